"""The older kind of render pass as the newer, member by member."""

from __future__ import annotations

from typing import Any

from shaderstat.pipeline.render_passes import second

ATTACHMENTS = [{"format": "VK_FORMAT_R8G8B8A8_UNORM"}, {"format": "VK_FORMAT_D32_SFLOAT_S8_UINT"}, {"format": 124}]


def inputs(*places: int) -> list[dict[str, Any]]:
    return [{"attachment": place, "layout": "VK_IMAGE_LAYOUT_GENERAL"} for place in places]


def test_input_attachments_are_read_with_all_aspects_of_their_format() -> None:
    plain = {"pAttachments": ATTACHMENTS, "pSubpasses": [{"pInputAttachments": inputs(0, 1, 2, 0xFFFFFFFF)}]}
    (subpass,) = second(plain)["pSubpasses"]
    assert [each["aspectMask"] for each in subpass["pInputAttachments"]] == [
        "VK_IMAGE_ASPECT_COLOR_BIT",
        "VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT",
        "VK_IMAGE_ASPECT_DEPTH_BIT",  # 124 is VK_FORMAT_D16_UNORM
        0,
    ]


def test_aspects_that_were_said_win() -> None:
    said = {"subpass": 0, "inputAttachmentIndex": 1, "aspectMask": "VK_IMAGE_ASPECT_STENCIL_BIT"}
    chain = [["VkRenderPassInputAttachmentAspectCreateInfo", {"pAspectReferences": [said]}]]
    plain = {"pAttachments": ATTACHMENTS, "pSubpasses": [{"pInputAttachments": inputs(0, 1)}], "pNext": chain}
    found = second(plain)
    assert found["pSubpasses"][0]["pInputAttachments"][1]["aspectMask"] == "VK_IMAGE_ASPECT_STENCIL_BIT"
    assert "pNext" not in found


def test_views_stand_where_they_belong_and_the_rest_of_the_chain_stays() -> None:
    views = {"pViewMasks": [3, 1], "pViewOffsets": [-1], "pCorrelationMasks": [3]}
    map_ = ["VkRenderPassFragmentDensityMapCreateInfoEXT", {"fragmentDensityMapAttachment": {"attachment": 0}}]
    plain = {
        "pSubpasses": [{"pColorAttachments": inputs(0)}, {}],
        "pDependencies": [{"srcSubpass": 0, "dstSubpass": 1}],
        "pNext": [["VkRenderPassMultiviewCreateInfo", views], map_],
    }
    assert second(plain) == {
        "pSubpasses": [{"pColorAttachments": inputs(0), "viewMask": 3}, {"viewMask": 1}],
        "pDependencies": [{"srcSubpass": 0, "dstSubpass": 1, "viewOffset": -1}],
        "pCorrelatedViewMasks": [3],
        "pNext": [map_],
    }
