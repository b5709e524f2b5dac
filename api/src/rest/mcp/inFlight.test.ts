import { describe, expect, test } from '@jest/globals';
import { createInFlight, inFlightLimits } from './inFlight.ts';

const refused = expect.objectContaining({
  code: 'MCP_RATE_LIMITED',
  retryAfterMs: 1_000,
}) as unknown as Error;

describe('calls under way', () => {
  test('one user has so many at once, and another’s place is not theirs', () => {
    const inFlight = createInFlight({ perUser: 2, inAll: 100 });
    inFlight.enter('ada');
    inFlight.enter('ada');
    expect(() => inFlight.enter('ada')).toThrow(refused);
    inFlight.enter('bob');
    inFlight.leave('ada');
    inFlight.enter('ada');
    expect(() => inFlight.enter('ada')).toThrow(refused);
  });

  test('so has everybody together, and who was refused holds no place', () => {
    const inFlight = createInFlight({ perUser: 100, inAll: 2 });
    inFlight.enter('ada');
    inFlight.enter('bob');
    for (let i = 0; i < 5; i += 1) expect(() => inFlight.enter('eve')).toThrow(refused);
    inFlight.leave('bob');
    inFlight.enter('eve');
    expect(() => inFlight.enter('ada')).toThrow(refused);
    expect(inFlightLimits).toEqual({ perUser: 64, inAll: 2_000 });
  });
});
