export interface AttemptWindow {
  /** How many hits this window has seen, this one included. */
  count: number;
  resetAt: number;
}

/** Counts attempts in fixed windows for all processes together. */
export interface AttemptCounter {
  hit(key: string, windowMs: number): Promise<AttemptWindow>;
  clear(key: string): Promise<void>;
}
