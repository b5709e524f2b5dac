import type { JsonObject, UpstreamResponse } from '@behalf/gateway';
import { describe, expect, test } from '@jest/globals';
import { downgradeContent } from './results.ts';

const audio = { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav', annotations: { priority: 1 } };
const link = { type: 'resource_link', uri: 'file:///a.md', name: 'a', title: 'A', mimeType: 'text/markdown' };
const text = { type: 'text', text: 'hello' };
const image = { type: 'image', data: 'AA==', mimeType: 'image/png' };
const odd = { type: 'constructor' };

describe('content that an old revision does not have', () => {
  const answerOf = (result: JsonObject): UpstreamResponse => ({
    kind: 'result',
    result,
    json: JSON.stringify(result),
  });

  test('is told in a text, in results of tools and in prompts', () => {
    const tool = answerOf({ content: [text, audio, link, image, odd], structuredContent: { a: 1 } });
    const reported = { type: 'text', text: expect.stringContaining('audio/wav') as unknown };
    const linked = { type: 'text', text: '[Link to a resource (text/markdown): A, file:///a.md]' };
    const { result, json } = downgradeContent(tool, '2024-11-05');
    expect(result).toEqual({
      content: [text, { ...reported, annotations: { priority: 1 } }, linked, image, odd],
      structuredContent: { a: 1 },
    });
    expect(json).toBeUndefined();
    expect(downgradeContent(tool, '2025-03-26').result['content']).toEqual([text, audio, linked, image, odd]);
    const messages = [
      { role: 'user', content: link },
      { role: 'user', content: text },
    ];
    expect(downgradeContent(answerOf({ messages }), '2025-03-26').result).toEqual({
      messages: [{ role: 'user', content: linked }, messages[1]],
    });
  });

  test('and nothing is touched where there is none', () => {
    const all = answerOf({ content: [audio, link] });
    for (const version of ['2025-06-18', '2025-11-25', '2026-07-28'])
      expect(downgradeContent(all, version)).toBe(all);
    for (const result of [{ content: [text, image] }, { contents: [] }, { messages: 'none' }, {}]) {
      const answer = answerOf(result);
      expect(downgradeContent(answer, '2024-11-05')).toBe(answer);
    }
  });
});
