"""The off-screen target: its attachments, and what stands around draws: a render pass or dynamic rendering."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .dynamic_state import set_dynamic_state
from .images import TRANSFER, UNDEFINED, Images
from .objects import Objects

if TYPE_CHECKING:
    from shaderstat.pipeline.resources import Target

    from .pipelines import Made
    from .recording import Recorder

_INLINE = 0  # VK_SUBPASS_CONTENTS_INLINE
_GENERAL = "VK_IMAGE_LAYOUT_GENERAL"


class Rendering:
    """Where a graphics pipeline draws to."""

    def __init__(self, objects: Objects, images: Images, made: Made, target: Target) -> None:
        """Raises:
        DriverError: out of memory, and the like.
        Unsupported: ``run/format``.
        """
        self._objects = objects
        self._images = images
        self._made = made
        self._target = target
        self._attachments = [
            images.attachment(each, target.extent, f"attachment {number}")
            for number, each in enumerate(target.attachments)
        ]
        self._framebuffer = None
        if made.spec.render_pass is not None:
            plain = {
                "renderPass": made.handles["VkRenderPass"][0],
                "pAttachments": [each.view for each in self._attachments],
                "width": target.extent[0],
                "height": target.extent[1],
                "layers": 1,  # several views are layers of their own (VUID-VkFramebufferCreateInfo-renderPass-02531)
            }
            self._framebuffer = objects.create("VkFramebuffer", plain)

    def input(self, attachment: int, view: str) -> dict[str, Any]:
        """VkDescriptorImageInfo of an attachment that the subpass reads."""
        its = self._attachments[attachment]
        render_pass = self._made.spec.render_pass
        assert render_pass is not None
        subpass = render_pass["pSubpasses"][self._target.subpass]
        layouts = [
            each.get("layout", _GENERAL)
            for each in subpass.get("pInputAttachments") or ()
            if each.get("attachment", 0) == attachment
        ]
        made = self._images.input_view(its, self._target.attachments[attachment], view)
        return {"imageView": made, "imageLayout": layouts[0] if layouts else _GENERAL}

    def prepare(self, recorder: Recorder) -> None:
        """Record what clears all attachments and brings them into the layouts in which rendering begins."""
        recorder.barrier()
        for image, its in zip(self._attachments, self._target.attachments, strict=True):
            recorder.image_barrier(image, UNDEFINED, TRANSFER)
            recorder.clear(image, its.clear)
            recorder.image_barrier(image, TRANSFER, its.layout)

    @contextmanager
    def begun(self, recorder: Recorder) -> Iterator[None]:
        """Draws are recorded within. The pipeline's dynamic state is set before them."""
        functions = recorder.functions
        if self._framebuffer is not None:
            self._begin_render_pass(recorder)
        else:
            begin = self._objects.command("vkCmdBeginRendering")
            begin(recorder.handle, recorder.build("VkRenderingInfo", self._rendering_info()))
        set_dynamic_state(self._objects, recorder, self._made.spec, self._target)
        yield
        if self._framebuffer is None:
            self._objects.command("vkCmdEndRendering")(recorder.handle)
            return
        for _ in range(self._target.subpass + 1, self._target.subpasses):
            functions["vkCmdNextSubpass"](recorder.handle, _INLINE)
        functions["vkCmdEndRenderPass"](recorder.handle)

    def _begin_render_pass(self, recorder: Recorder) -> None:
        clears: list[dict[str, Any]] = []
        for each in self._target.attachments:
            if "COLOR" in each.aspects:
                clears.append({"color": {"float32": list(each.clear)}})
            else:
                clears.append({"depthStencil": {"depth": each.clear[0], "stencil": int(each.clear[1])}})
        plain = {
            "renderPass": self._made.handles["VkRenderPass"][0],
            "framebuffer": self._framebuffer,
            "renderArea": self._area(),
            "pClearValues": clears,
        }
        info = recorder.build("VkRenderPassBeginInfo", plain)
        recorder.functions["vkCmdBeginRenderPass"](recorder.handle, info, _INLINE)
        for _ in range(self._target.subpass):
            recorder.functions["vkCmdNextSubpass"](recorder.handle, _INLINE)

    def _rendering_info(self) -> dict[str, Any]:
        target = self._target
        plain: dict[str, Any] = {
            "renderArea": self._area(),
            "layerCount": 1,
            "viewMask": target.view_mask,
            "pColorAttachments": [self._rendering_attachment(place) for place in target.colors],
        }
        if target.depth is not None:
            plain["pDepthAttachment"] = self._rendering_attachment(target.depth)
        if target.stencil is not None:
            plain["pStencilAttachment"] = self._rendering_attachment(target.stencil)
        return plain

    def _rendering_attachment(self, place: int | None) -> dict[str, Any]:
        if place is None:
            return {}
        its = self._attachments[place]
        load, store = "VK_ATTACHMENT_LOAD_OP_LOAD", "VK_ATTACHMENT_STORE_OP_STORE"
        return {"imageView": its.view, "imageLayout": its.layout, "loadOp": load, "storeOp": store}

    def _area(self) -> dict[str, Any]:
        width, height = self._target.extent
        return {"extent": {"width": width, "height": height}}
