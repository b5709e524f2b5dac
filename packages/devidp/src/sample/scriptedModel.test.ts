import { afterEach, describe, expect, test } from '@jest/globals';
import { demoScript } from './demoScript.ts';
import { startScriptedModel, type ModelScript, type ScriptedModel } from './scriptedModel.ts';

let model: ScriptedModel | undefined;
afterEach(() => model?.close());

interface Chunk {
  choices: {
    delta: { content?: string; tool_calls?: { index: number; function: Record<string, string> }[] };
  }[];
}

async function say(script: ModelScript, messages: object[], tools: object[] = []) {
  await model?.close();
  model = await startScriptedModel({ script, models: ['a', 'b'] });
  const response = await fetch(`${model.url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-mine': '1' },
    body: JSON.stringify({ model: 'a', messages, tools, stream: true }),
  });
  const text = await response.text();
  const lines = text.split('\n\n').filter((line) => line.startsWith('data: {'));
  const deltas = lines.map((line) => (JSON.parse(line.slice(6)) as Chunk).choices[0]!.delta);
  return {
    status: response.status,
    text: deltas.map(({ content = '' }) => content).join(''),
    calls: deltas.flatMap(({ tool_calls = [] }) => tool_calls).map((call) => call.function),
    ends: text.endsWith('data: [DONE]\n\n'),
  };
}

const tool = (name: string, field = 'text') => ({
  type: 'function',
  function: { name, parameters: { properties: { [field]: {} } } },
});
const user = (content: string) => ({ role: 'user', content });

describe('the scripted model', () => {
  test('speaks as it is told, and remembers what it was asked', async () => {
    const said = await say(() => ['Hel', 'lo', { calls: [{ name: 't', args: { a: 1 } }] }], [user('hi')]);
    expect(said).toMatchObject({ status: 200, text: 'Hello', ends: true });
    expect(said.calls.map(({ name = '' }) => name).join('')).toBe('t');
    expect(said.calls.map((call) => call['arguments']).join('')).toBe('{"a":1}');
    expect(model!.requests).toMatchObject([
      { model: 'a', messages: [user('hi')], headers: { 'x-mine': '1' } },
    ]);
    const listed = (await (await fetch(`${model!.url}/models`)).json()) as { data: { id: string }[] };
    expect([listed.data.map(({ id }) => id), model!.listCount]).toEqual([['a', 'b'], 1]);
    expect((await fetch(`${model!.url}/other`)).status).toBe(404);
  });

  test('fails as it is told', async () => {
    expect((await say(() => [{ status: 429 }], [])).status).toBe(429);
    expect((await say(() => [{ raw: 'nonsense' }], [])).text).toBe('');
    await expect(say(() => ['a', { cut: true }], [])).rejects.toThrow();
  });

  test('knows a few words, and the tools that belong to them', async () => {
    const tools = [
      tool('whoami_mcp_mail'),
      tool('whoami_mcp_notes'),
      tool('echo_mcp_x', 'message'),
      tool('get-sum_mcp_x'),
    ];
    const called = async (text: string) => {
      const { calls } = await say(demoScript, [user(text)], tools);
      return [
        calls.map(({ name = '' }) => name).filter(Boolean),
        calls.map((call) => call['arguments']).join(''),
      ];
    };
    expect(await called('Who am I?')).toEqual([['whoami_mcp_mail', 'whoami_mcp_notes'], '{}{}']);
    expect(await called('please echo a b')).toEqual([['echo_mcp_x'], '{"message":"a b"}']);
    expect(await called('add 2 and 3')).toEqual([['get-sum_mcp_x'], '{"a":2,"b":3}']);
    expect((await say(demoScript, [user('hm')], tools)).text).toContain('**who am i**');
    const call = { id: 'c', function: { name: 'echo_mcp_x', arguments: '{}' } };
    const after = [
      user('echo a'),
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'a' },
    ];
    expect((await say(demoScript, after, tools)).text).toContain('- **echo_mcp_x**: a');
    expect((await say(demoScript, [...after, user('hm')], tools)).text).toContain('Try one of these');
  });
});
