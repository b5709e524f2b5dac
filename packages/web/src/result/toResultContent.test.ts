import { describe, expect, test } from '@jest/globals';
import { toResultContent } from './resultContent.ts';

const text = (value: string) => ({ type: 'text', text: value });

describe('what of a result is shown', () => {
  test('is its content in its order, and then what is structured', () => {
    const plan = toResultContent({
      content: [text('a'), text('b')],
      structuredContent: { n: 1 },
      isError: true,
    });
    expect(plan.blocks.map((block) => block.kind === 'text' && block.text)).toEqual(['a', 'b']);
    expect(plan.structured).toEqual({ value: { n: 1 } });
    expect(plan.isError).toBe(true);
  });

  test('is said once where text and structure say the same', () => {
    const value = { b: [1, { c: null }], a: 'x' };
    const plan = toResultContent({
      content: [text('before'), text(JSON.stringify({ a: 'x', b: [1, { c: null }] }, null, 2))],
      structuredContent: value,
    });
    expect(plan.blocks).toEqual([{ kind: 'text', text: 'before' }]);
    expect(plan.structured).toEqual({ value });
  });

  test('is said once where the structure only wraps the text', () => {
    expect(
      toResultContent({ content: [text('hello')], structuredContent: { result: 'hello' } }),
    ).toMatchObject({
      blocks: [{ text: 'hello' }],
      structured: undefined,
    });
    expect(
      toResultContent({ content: [text('[1,2]')], structuredContent: { result: [1, 2] } }),
    ).toMatchObject({
      blocks: [],
      structured: { value: { result: [1, 2] } },
    });
  });

  test('is both where they differ', () => {
    const plan = toResultContent({ content: [text('{"a":1}')], structuredContent: { a: 2 } });
    expect(plan.blocks).toHaveLength(1);
    expect(plan.structured).toEqual({ value: { a: 2 } });
  });

  test('survives what the protocol does not allow', () => {
    const strange = { content: 'no list' } as unknown as Parameters<typeof toResultContent>[0];
    expect(toResultContent(strange)).toEqual({ isError: false, blocks: [], structured: undefined });
    expect(toResultContent({})).toEqual({ isError: false, blocks: [], structured: undefined });
    expect(toResultContent({ structuredContent: null }).structured).toEqual({ value: null });
  });
});
