import { describe, expect, test } from '@jest/globals';
import { MAX_STORED_BLOCKS, MAX_STORED_NODES } from './limits.ts';
import { fitResult } from './results.ts';

const MOST = 64 * 1024;
const size = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const fit = (result: Parameters<typeof fitResult>[0]) => fitResult(result, MOST);
const image = (length: number) => ({ type: 'image', data: 'A'.repeat(length), mimeType: 'image/png' });
const link = { type: 'resource_link', uri: 'https://example.test/', name: 'More' };

describe('what is kept of a result', () => {
  test('is the whole where there is room for it', () => {
    const small = { content: [image(2)], structuredContent: { a: 1 }, isError: true };
    expect(fit(small)).toEqual({ result: small });
  });

  test('is everything but the pieces that are too large, which are named', () => {
    const [text, sound] = [
      { type: 'text', text: 'Two pictures' },
      { type: 'audio', data: 'A'.repeat(MOST) },
    ];
    const structuredContent = { cities: ['Oslo'] };
    const content = [image(MOST), text, image(100), sound, link];
    expect(fit({ content, structuredContent, _meta: { a: 1 } })).toEqual({
      result: { content: [text, image(100), link], structuredContent, isError: false },
      isCut: true,
      leftOut: ['image', 'audio'],
    });
    const heavy = { a: 'A'.repeat(MOST) };
    expect(fit({ content: [text, { type: 'odd', heavy }], structuredContent: heavy })).toEqual({
      result: { content: [text], isError: false },
      isCut: true,
      leftOut: ['structured', 'other'],
    });
  });

  test('is the beginning of its text, and never more than fits', () => {
    for (const sign of ['a', '\u00e9', '\u{1F600}', '\u0001', '"']) {
      const text = { type: 'text', text: sign.repeat(2 * MOST) };
      for (const content of [
        [text],
        [text, text],
        [image(MOST / 2 - 200), text],
        [...Array<object>(300).fill(image(150)), text, text],
        [text, ...Array<object>(190).fill(link), image(2 * MOST)],
      ]) {
        const { result, leftOut } = fit({ content, structuredContent: { list: Array(999).fill(sign) } });
        expect(leftOut).toContain('text');
        expect(size(result)).toBeLessThanOrEqual(MOST);
        const said = result.content?.find(({ type }) => type === 'text') as { text: string } | undefined;
        if (content.indexOf(text) >= MAX_STORED_BLOCKS) continue;
        expect(said?.text.length).toBeGreaterThan(MOST / 14);
        expect(text.text.startsWith(said?.text ?? '-')).toBe(true);
        expect(said?.text).not.toMatch(/[\uD800-\uDBFF]$/);
      }
    }
  });

  test('has the shape that readers rely on, whatever a server sent', () => {
    for (const content of ['text', null, [1, null, { text: 'no type' }], { type: 'text' }]) {
      expect(fit({ content, isError: 'yes' })).toEqual({ result: { content: [], isError: false } });
    }
  });

  test('of very many pieces are the first', () => {
    const blocks = (count: number) => Array.from({ length: count }, () => ({ type: 'a' }));
    expect(fit({ content: blocks(MAX_STORED_BLOCKS) }).isCut).toBeUndefined();
    const { result, isCut, leftOut } = fit({ content: blocks(20_000) });
    expect([result.content?.length, isCut, leftOut]).toEqual([MAX_STORED_BLOCKS, true, ['other']]);
    const content = [{ type: 'text', text: 'said' }];
    const small = { content, structuredContent: { list: Array(MAX_STORED_NODES - 100).fill(0) } };
    expect(fit(small)).toEqual({ result: { ...small, isError: false } });
    const many = Array<number>(MAX_STORED_NODES + 1).fill(0);
    expect(fit({ content, structuredContent: { list: many } })).toEqual({
      ...{ result: { content, isError: false }, isCut: true, leftOut: ['structured'] },
    });
    expect(fit({ content: [...content, { type: 'a', list: many }] })).toEqual({
      ...{ result: { content, isError: false }, isCut: true, leftOut: ['other'] },
    });
    const half = { type: 'a', list: many.slice(MAX_STORED_NODES / 2) };
    expect(fit({ content: [half, half, half] }).result.content).toHaveLength(1);
  });
});
