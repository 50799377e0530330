#!/bin/sh
# Rebuild every sample beside its source, and check it: ./build.sh [FOLDER]
# The committed files were made with glslangValidator 11:12.0.0 and checked with spirv-val 2023.1 (Debian 12).
set -eu
cd "$(dirname "$0")"
out=${1:-.}
for source in *.rgen *.rchit *.rmiss *.mesh *.frag; do
    glslangValidator --quiet -V --target-env vulkan1.2 -o "$out/$source.spv" "$source"
    spirv-val --target-env vulkan1.2 "$out/$source.spv"
done
