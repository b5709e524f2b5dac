import { describe, expect, test } from '@jest/globals';
import { createInFlightLimiter, inFlightLimits } from './limits.ts';

const refused = expect.objectContaining({
  code: 'MCP_RATE_LIMITED',
  retryAfterMs: 1_000,
}) as unknown as Error;

describe('calls under way', () => {
  test('one user has so many at once, and another’s place is not theirs', () => {
    const inFlight = createInFlightLimiter({ maxPerUser: 2, maxTotal: 100 });
    inFlight.acquire('ada');
    inFlight.acquire('ada');
    expect(() => inFlight.acquire('ada')).toThrow(refused);
    inFlight.acquire('bob');
    inFlight.release('ada');
    inFlight.acquire('ada');
    expect(() => inFlight.acquire('ada')).toThrow(refused);
  });

  test('so has everybody together, and who was refused holds no place', () => {
    const inFlight = createInFlightLimiter({ maxPerUser: 100, maxTotal: 2 });
    inFlight.acquire('ada');
    inFlight.acquire('bob');
    for (let i = 0; i < 5; i += 1) expect(() => inFlight.acquire('eve')).toThrow(refused);
    inFlight.release('bob');
    inFlight.acquire('eve');
    expect(() => inFlight.acquire('ada')).toThrow(refused);
    expect(inFlightLimits).toEqual({ maxPerUser: 64, maxTotal: 2_000 });
  });
});
