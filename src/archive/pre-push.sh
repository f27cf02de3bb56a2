#!/bin/sh
# Refuses every push from this archive except that of the public branch. Private commits
# must never leave the machine; `pagelog publish` pushes what may.
public=$(git rev-parse --verify --quiet refs/heads/main)
while read -r local_ref local_id remote_ref remote_id; do
	if [ "$local_ref" = refs/heads/main ] && [ "$local_id" = "$public" ]; then
		case $remote_ref in refs/heads/*) continue ;; esac
	fi
	echo "pagelog: refused to push $local_ref to $remote_ref: only refs/heads/main may leave this archive" >&2
	exit 1
done
exit 0
