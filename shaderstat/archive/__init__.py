"""Captured pipelines: Fossilize archives (``.foz``) as data, in and out.

- `containers`: the index of a file, an unpacked folder or a ``.zip``, and one payload after another when asked for;
- `records`: payloads as JSON objects, of a set of archives that belong together;
- `members`: a record's JSON as create infos, and back;
- `capture`: a pipeline's records as a `shaderstat.pipeline.spec.PipelineSpec`;
- `hashes`: the names that Fossilize gives to what it records;
- `writer`: pipelines as an archive that other tools replay.

Nothing of an archive is trusted: sizes, nesting, references and numbers may all lie. What is wrong is an `InvalidSpirv`
or a diagnostic with a code ``archive/…`` and, where there is one, the offset in the file.
"""

from __future__ import annotations
