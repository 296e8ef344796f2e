-- When a source was stopped last: what came before is for it, however late somebody hears of the stop.
ALTER TABLE workflow ADD COLUMN stopped_at INTEGER;
