import { describe, expect, test } from '@jest/globals';
import { createFakeClock } from '@behalf/testkit';
import { createProtocolVersionCache } from './protocolVersionCache.ts';

describe('what is known of eras', () => {
  test('is kept by URL without the query', () => {
    const eras = createProtocolVersionCache({ clock: createFakeClock() });
    eras.set('https://e.com/mcp?key=secret', 'modern');
    expect(eras.get('https://e.com/mcp?key=other')).toBe('modern');
    expect(eras.get('https://e.com/mcp2')).toBeUndefined();
    expect(eras.get('https://e.com:8443/mcp')).toBeUndefined();
    eras.delete('https://e.com/mcp');
    expect(eras.get('https://e.com/mcp')).toBeUndefined();
  });

  test('the day of a legacy verdict begins when it was found', async () => {
    const clock = createFakeClock();
    const eras = createProtocolVersionCache({ clock });
    eras.set('https://e.com/', 'legacy');
    eras.set('https://m.com/', 'modern');
    await clock.advance(20 * 3_600_000);
    expect(eras.get('https://e.com/')).toBe('legacy');
    eras.set('https://e.com/', 'legacy');
    await clock.advance(4 * 3_600_000);
    expect(eras.get('https://e.com/')).toBeUndefined();
    expect(eras.get('https://m.com/')).toBe('modern');
  });

  test('a thousand are kept, the least recently used goes', () => {
    const eras = createProtocolVersionCache({ clock: createFakeClock() });
    for (let n = 0; n < 1_000; n += 1) eras.set(`https://e.com/${n}`, 'modern');
    expect(eras.get('https://e.com/0')).toBe('modern');
    eras.set('https://e.com/new', 'legacy');
    expect(eras.get('https://e.com/0')).toBe('modern');
    expect(eras.get('https://e.com/1')).toBeUndefined();
  });
});
