import { evaluationQueries, largeCatalog, tuningQueries } from '@behalf/testkit/catalog';
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../upstream/upstream.ts';
import type { CatalogTool } from '../toolList.ts';
import { createRanking } from './ranking.ts';
import { extractTerms } from './terms.ts';
import { type SearchedTool, type ToolSearch, createToolSearch } from './toolSearch.ts';
import { extractToolText } from './toolText.ts';

function toolOf(server: string, definition: JsonObject): SearchedTool {
  const { name, title, description, inputSchema = { type: 'object' } } = definition;
  const tool = { ...definition, title, description, inputSchema, definition } as unknown as CatalogTool;
  return { name: `${server}__${String(name)}`, server: { id: server, name: server }, tool };
}

const thousand = largeCatalog().flatMap(({ name, tools }) =>
  tools.map((tool) => toolOf(name, tool as unknown as JsonObject)),
);

/** Counts how often it is read. */
function counted(name: string, onRead: () => void, server = 'a'): SearchedTool {
  const { tool, ...rest } = toolOf(server, { name });
  const watched = new Proxy(tool, {
    get(target, key) {
      if (key === 'inputSchema') onRead();
      return target[key as keyof CatalogTool];
    },
  });
  return Object.freeze({ ...rest, tool: watched });
}

const signal = new AbortController().signal;
const ada = { caller: 'ada', signal };
const yieldToEventLoop = () => Promise.resolve();

describe('searching tools', () => {
  const find = async (tools: readonly SearchedTool[], query: string, limit = 5) =>
    (await createToolSearch({ yieldToEventLoop }).find(tools, query, limit, ada)).map(({ name }) => name);

  test('each of the questions, among a thousand', async () => {
    expect(thousand).toHaveLength(1_000);
    const isFound = async ({ requestText, server, tool }: (typeof evaluationQueries)[number]) =>
      (await find(thousand, requestText)).includes(`${server}__${tool}`);
    const places = [];
    for (const question of evaluationQueries) places.push([question.requestText, await isFound(question)]);
    expect(places).toEqual(evaluationQueries.map(({ requestText }) => [requestText, true]));
    // One of these is not found among the first five: which room tool is meant, nothing in the question says.
    const tried = await Promise.all(tuningQueries.map(isFound));
    expect(tried.filter(Boolean).length).toBeGreaterThanOrEqual(11);
  });

  test('in every spelling', async () => {
    const same = extractTerms('create pull request');
    for (const spelled of [
      'createPullRequests',
      'create_pull_request',
      'Create-Pull-Request',
      'creating PULL requests',
    ])
      expect([spelled, extractTerms(spelled).filter((term) => same.includes(term))]).toEqual([spelled, same]);
    expect(extractTerms('GitHub')).toContain('github');
    expect(extractTerms('URLs of EC2 SQLQuery')).toEqual(['url', 'of', 'ec2', 'sql', 'query', 'sqlquery']);
    expect(extractTerms('Überprüfung')).toEqual(['uberprufung']);
    const tools = [
      toolOf('a', { name: 'getRepository' }),
      toolOf('a', { name: 'x', inputSchema: { properties: { mode: { enum: ['squash'] } } } }),
      toolOf('a', { name: 'y', inputSchema: { properties: { p: { description: 'the archived boxes' } } } }),
      toolOf('a', {
        name: 'z',
        inputSchema: { properties: { list: { items: { properties: { colour: {} } } } } },
      }),
      toolOf('a', { name: 'v', title: 'Weather' }),
    ];
    expect(await find(tools, 'which repo')).toEqual(['a__getRepository']);
    expect(await find(tools, 'squashing')).toEqual(['a__x']);
    expect(await find(tools, 'archive a box')).toEqual(['a__y']);
    expect(await find(tools, 'colours')).toEqual(['a__z']);
    expect(await find(tools, 'weather')).toEqual(['a__v']);
    expect(await find(tools, '1234 ???')).toEqual([]);
    expect(await find(tools, '')).toEqual([]);
  });

  test('by name where two are alike', async () => {
    const alike = ['c', 'a', 'e', 'b', 'd'].map((server) => toolOf(server, { name: 'send_mail' }));
    const once = await find(alike, 'send a mail');
    expect(once).toEqual(['a', 'b', 'c', 'd', 'e'].map((server) => `${server}__send_mail`));
    expect(await find([...alike].reverse(), 'send a mail')).toEqual(once);
    for (const { requestText } of evaluationQueries)
      expect(await find([...thousand].reverse(), requestText, 20)).toEqual(
        await find(thousand, requestText, 20),
      );
  });

  test('of whatever size', async () => {
    const word = 'refund payment customer ';
    const endless = toolOf('evil', {
      name: 'n'.repeat(256),
      description: word.repeat(8_000) + Array.from({ length: 9_000 }, (_, i) => `w${i}`).join(' '),
      inputSchema: {
        properties: Object.fromEntries(
          Array.from({ length: 5_000 }, (_, i) => [`p${i}`, { description: word.repeat(50), enum: [word] }]),
        ),
      },
    });
    const { terms, length } = extractToolText(endless.tool, 'evil');
    expect(terms.length).toBeLessThanOrEqual(128);
    expect(length).toBeLessThan(1_000);
    for (const term of terms) expect(term.length).toBeLessThanOrEqual(32);
    // To say a word a thousand times is no reason to be found before who says it in a name.
    expect((await find([...thousand, endless], 'refund a payment'))[0]).toBe('stripe__refund_charge');
    // A long word is found as any other, also one that ends in the middle of a letter.
    const long32 = `${'x'.repeat(31)}\u{10428}`;
    expect(await find([toolOf('a', { name: 'w', description: long32 })], long32)).toEqual(['a__w']);
    // Of many words, the first; of a schema, what is on the outside.
    const properties: Record<string, JsonObject> = {};
    for (let i = 0; i < 90; i += 1) {
      const words = Array.from({ length: 20 }, (_, j) => `w${i}x${j}`);
      properties[`q${i}`] = { description: words.join(' ') };
    }
    const wordy = toolOf('evil', { name: 'wordy', inputSchema: { properties } });
    expect(extractToolText(wordy.tool, 'evil').terms).toHaveLength(128);
    // Prose leaves the parameters some words, and of all together so many characters are read.
    const prose = toolOf('evil', {
      name: 'prose',
      description: Array.from({ length: 400 }, (_, i) => `d${i}`).join(' '),
      inputSchema: { properties: { first: {} } },
    });
    expect(extractToolText(prose.tool, 'evil').terms).toContain('first');
    const repeated = Array.from({ length: 20 }, (_, i) => [`q${i}`, { description: 'same '.repeat(60) }]);
    const long = toolOf('evil', {
      name: 'long',
      inputSchema: { properties: Object.fromEntries([...repeated, ['late', {}]]) as JsonObject },
    });
    expect(extractToolText(long.tool, 'evil').terms).toContain('q1');
    expect(extractToolText(long.tool, 'evil').terms).not.toContain('late');
    // What is no parameter is looked at as well.
    const none = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`n${i}`, 1]));
    const hollow = toolOf('evil', { name: 'hollow', inputSchema: { properties: { ...none, late: {} } } });
    expect(extractToolText(hollow.tool, 'evil').terms).toEqual(['evil', 'hollow']);
    // One sign, eighteen letters.
    expect(extractTerms('\uFDFA '.repeat(10)).join('').length).toBeLessThanOrEqual(60);
    let deep: JsonObject = {};
    for (let i = 0; i < 5_000; i += 1) deep = { properties: { [`inner${i}`]: deep } };
    const nested = toolOf('evil', { name: 'deep', inputSchema: deep });
    expect(extractToolText(nested.tool, 'evil').terms).toHaveLength(6);
  });

  test('and anew when there was no room for it', async () => {
    let read = 0;
    const many = (server: string, count: number) =>
      Array.from({ length: count }, (_, i) => counted(`${server}${i}`, () => (read += 1), server));
    const reads = async (search: ToolSearch, tools: readonly SearchedTool[]) => {
      read = 0;
      await search.find(tools, 'one', 5, ada);
      return read;
    };
    const [small, large] = [many('small', 4), many('large', 200)];
    const roomy = createToolSearch({ yieldToEventLoop });
    expect(await reads(roomy, [...small, ...large])).toBe(204);
    expect(await reads(roomy, [...large, ...small])).toBe(0);
    // What has no room is of the server that says the most; nobody else is read again for it.
    const narrow = createToolSearch({ yieldToEventLoop, maxBytes: 10_000 });
    expect(await reads(narrow, [...small, ...large])).toBe(204);
    expect(await reads(narrow, small)).toBe(0);
    expect(await reads(narrow, large)).toBeGreaterThan(50);
    expect(await reads(narrow, small)).toBe(0);
    // None at all: every text is read, and nothing else differs.
    const none = createToolSearch({ yieldToEventLoop, maxBytes: 0 });
    for (let i = 0; i < 2; i += 1) expect(await reads(none, small)).toBe(4);
    expect((await none.find(small, 'small2', 5, ada))[0]?.name).toBe('small__small2');
  });

  test('everybody else has a turn after a few tools', async () => {
    let sinceWay = 0;
    let most = 0;
    let ways = 0;
    const search = createToolSearch({
      yieldToEventLoop: () => {
        ways += 1;
        sinceWay = 0;
        return Promise.resolve();
      },
    });
    const tools = Array.from({ length: 1_000 }, (_, i) =>
      counted(`t${i}`, () => {
        sinceWay += 1;
        most = Math.max(most, sinceWay);
      }),
    );
    expect(await search.find(tools, 't7', 5, ada)).toHaveLength(1);
    expect(most).toBe(32);
    // Also where every text is known.
    ways = 0;
    await search.find(tools, 't7', 5, ada);
    expect(ways).toBeGreaterThanOrEqual(31);
  });

  test('and who hangs up is not searched for to the end', async () => {
    let read = 0;
    const abortController = new AbortController();
    const search = createToolSearch({
      yieldToEventLoop: () => {
        abortController.abort(new Error('gone'));
        return Promise.resolve();
      },
    });
    const tools = Array.from({ length: 1_000 }, (_, i) => counted(`t${i}`, () => (read += 1)));
    const pending = search.find(tools, 't7', 5, { caller: 'ada', signal: abortController.signal });
    await expect(pending).rejects.toThrow('gone');
    expect(read).toBe(32);
    // The next one has its turn all the same.
    expect(await search.find(tools.slice(0, 5), 't3', 5, ada)).toHaveLength(1);
  });

  test('the next waits; what others search does not', async () => {
    const waiting: (() => void)[] = [];
    const search = createToolSearch({
      yieldToEventLoop: () => new Promise((resolve) => waiting.push(resolve)),
    });
    const ended: string[] = [];
    const started: string[] = [];
    const ask = (caller: string, name: string) => {
      const tools = Array.from({ length: 65 }, (_, i) => counted(`${name}${i}`, () => started.push(name)));
      return search.find(tools, `${name}3`, 5, { caller, signal }).then(() => ended.push(name));
    };
    const all = [ask('ada', 'first'), ask('ada', 'second'), ask('ada', 'third'), ask('bob', 'other')];
    const atWork = () => [...new Set(started)].filter((name) => !ended.includes(name));
    let together = 0;
    while (ended.length < all.length) {
      await new Promise((resolve) => setImmediate(resolve));
      together = Math.max(together, atWork().filter((name) => name !== 'other').length);
      if (ended.length === 0) expect(atWork()).toContain('other');
      for (const go of waiting.splice(0)) go();
    }
    expect(together).toBe(1);
    expect(ended.filter((name) => name !== 'other')).toEqual(['first', 'second', 'third']);
    await Promise.all(all);
  });

  test('a hundred words that begin alike are not all compared', () => {
    let compared = 0;
    const words = Array.from({ length: 128 }, (_, i) => `abcd${String(i).padStart(3, '0')}`);
    const watched = new Proxy(words, {
      get(target, key, receiver) {
        if (typeof key === 'string' && /^\d+$/.test(key)) compared += 1;
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
    const text = { terms: watched, weights: new Float32Array(128).fill(1), length: 128, bytes: 0 };
    for (const term of ['abcd', 'abcd064xyz', 'abcdzzz', 'zzzz']) {
      compared = 0;
      createRanking(1, [term]).addText(0, text);
      expect([term, compared <= 50]).toEqual([term, true]);
    }
    const ranking = createRanking(1, ['abcd', 'abcd064xyz']);
    ranking.addText(0, text);
    expect(ranking.scoreOf(0)).toBeGreaterThan(0);
  });

  test('what is not there weighs nothing', async () => {
    const open = ['alpha beta', 'beta gamma', 'gamma gamma alpha'].map((description, i) =>
      toolOf('open', { name: `t${i}`, description }),
    );
    const hidden = Array.from({ length: 50 }, (_, i) =>
      toolOf('hidden', { name: `h${i}`, description: 'alpha' }),
    );
    const search = createToolSearch({ yieldToEventLoop });
    const before = await search.find(open, 'alpha beta gamma', 5, ada);
    await search.find([...open, ...hidden], 'alpha beta gamma', 5, ada);
    expect(await search.find(open, 'alpha beta gamma', 5, ada)).toEqual(before);
  });
});
