// Registers a device, sends to its user, and follows the job to its end.
//
//	go mod tidy
//	go run .
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
)

const device = `{"app": "shop", "user": "go-ann", "network": "apns", "token": "a1b2c3d4e505"}`

type object map[string]any

var job = object{
	"id":           "hello-go",
	"app":          "shop",
	"audience":     object{"users": []string{"go-ann"}},
	"notification": object{"title": "Hello", "body": "From Go"},
}

func follow(ctx context.Context, client *redis.Client) map[string]string {
	key := fmt.Sprintf("pushpool:job:%s:%s", job["app"], job["id"])
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		record := must(client.HGetAll(ctx, key).Result())
		if record["state"] == "done" || record["state"] == "cancelled" {
			return record
		}
		if record["state"] == "refused" {
			log.Fatalf("%s was refused: %s %s", job["id"], record["field"], record["message"])
		}
	}
	return must(map[string]string{}, fmt.Errorf("%s has not ended. Look at: pushpool status", job["id"]))
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	url := os.Getenv("PUSHPOOL_REDIS_URL")
	if url == "" {
		url = "redis://127.0.0.1:6379"
	}
	ctx := context.Background()
	client := redis.NewClient(must(redis.ParseURL(url)))
	defer client.Close()
	// Repeating either call is harmless.
	var answer struct{ Status string }
	text := must(client.FCall(ctx, "pushpool_install", []string{"pushpool", "pushpool:guard"}, device).Text())
	must(text, json.Unmarshal([]byte(text), &answer))
	fmt.Println("device", answer.Status)
	values := object{"job": must(json.Marshal(job))}
	must(client.XAdd(ctx, &redis.XAddArgs{Stream: "pushpool:jobs:normal", Values: map[string]any(values)}).Result())
	record := follow(ctx, client)
	fmt.Println(job["id"], record["state"], "accepted", record["accepted"])
}
