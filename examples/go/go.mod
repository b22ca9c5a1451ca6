module example.com/pushpool-send

go 1.18

require github.com/redis/go-redis/v9 v9.0.5
