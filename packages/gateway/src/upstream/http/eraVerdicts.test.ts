import { describe, expect, test } from '@jest/globals';
import { createFakeClock } from '@behalf/testkit';
import { createEraVerdicts } from './eraVerdicts.ts';

describe('what is known of eras', () => {
  test('is kept by URL without the query', () => {
    const eras = createEraVerdicts({ clock: createFakeClock() });
    eras.keep('https://e.com/mcp?key=secret', 'modern');
    expect(eras.find('https://e.com/mcp?key=other')).toBe('modern');
    expect(eras.find('https://e.com/mcp2')).toBeUndefined();
    expect(eras.find('https://e.com:8443/mcp')).toBeUndefined();
    eras.forget('https://e.com/mcp');
    expect(eras.find('https://e.com/mcp')).toBeUndefined();
  });

  test('the day of a legacy verdict begins when it was found', async () => {
    const clock = createFakeClock();
    const eras = createEraVerdicts({ clock });
    eras.keep('https://e.com/', 'legacy');
    eras.keep('https://m.com/', 'modern');
    await clock.advance(20 * 3_600_000);
    expect(eras.find('https://e.com/')).toBe('legacy');
    eras.keep('https://e.com/', 'legacy');
    await clock.advance(4 * 3_600_000);
    expect(eras.find('https://e.com/')).toBeUndefined();
    expect(eras.find('https://m.com/')).toBe('modern');
  });

  test('a thousand are kept, the least recently used goes', () => {
    const eras = createEraVerdicts({ clock: createFakeClock() });
    for (let n = 0; n < 1_000; n += 1) eras.keep(`https://e.com/${n}`, 'modern');
    expect(eras.find('https://e.com/0')).toBe('modern');
    eras.keep('https://e.com/new', 'legacy');
    expect(eras.find('https://e.com/0')).toBe('modern');
    expect(eras.find('https://e.com/1')).toBeUndefined();
  });
});
