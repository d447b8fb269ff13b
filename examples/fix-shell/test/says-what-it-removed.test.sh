mkdir files && touch -d '2026-01-01' files/a && touch -d '2026-01-02' files/b
[ "$(rotate.sh files 1)" = "removed a" ]
