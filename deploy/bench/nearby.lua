-- Searches that reach the limit of their work: very many locations are at one spot.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"url":"https://example.com/restaurants/restaurant_a","coordinate":{"latitude":1,"longitude":1},"limit":50}'
