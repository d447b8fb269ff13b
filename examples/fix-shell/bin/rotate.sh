#!/bin/sh
# rotate.sh FOLDER COUNT: keeps the COUNT newest files of FOLDER, removes the others, and says which.
set -eu

folder=$1
count=$2

number=0
for file in $(ls -t "$folder"); do
  number=$((number + 1))
  if [ "$number" -gt "$count" ]; then
    rm "$folder/$file"
    echo "removed $file"
  fi
done
