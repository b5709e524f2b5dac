import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import {
  legacyAsker,
  modernAsker,
  ownServer,
  promptsOf,
  settingsWith,
  shareServer,
  toolsOf,
} from './endpointScene.ts';
import { wireClient } from './mcpClient.ts';
import type { Person } from './people.ts';
import { createScene } from './scene.ts';
import { http } from './serverYaml.ts';

const NOT_FOUND = 'MCP_TOOL_NOT_FOUND';

describe('names at the MCP endpoint that the operator chose', () => {
  const scene = createScene();

  async function asking(who: Person) {
    const client = await wireClient(who, scene.gateway.url);
    return { modern: modernAsker(client), legacy: await legacyAsker(client) };
  }

  test('in both eras, and nothing is left out', async () => {
    const one = await scene.serve({ era: 'legacy', tools: toolsOf('one', ['search', 'a.b', 'x__y', 'own']) });
    const two = await scene.serve({ era: 'modern', tools: toolsOf('two', ['search', 'find']) });
    const three = await scene.serve({ era: 'legacy', tools: toolsOf('three', ['find', 'plain']) });
    const servers = { one: http(one.url), two: http(two.url), three: http(three.url) };
    const [ada] = (await scene.begin(
      settingsWith(servers, { names: 'priority', priority: ['two', 'one'] }),
    )) as [Person];
    for (const asker of Object.values(await asking(ada))) {
      const names = await asker.list('tools/list');
      expect(names).toEqual([
        'one__search',
        expect.stringMatching(/^one__a_b_[0-9a-f]{8}$/),
        'one__x__y',
        'own',
        'three__find',
        'three__plain',
        'search',
        'find',
      ]);
      const said = await Promise.all(names.map((name) => asker.call(name)));
      expect(said).toEqual([
        ...['one search', 'one a.b', 'one x__y', 'one own', 'three find', 'three plain'],
        ...['two search', 'two find'],
      ]);
      // The name with the server's key is always one too, whatever happens to those without.
      expect(await asker.call('two__search')).toBe('two search');
      for (const wrong of ['plain', 'a.b', 'x__y', 'nothing', 'y'])
        expect([wrong, await asker.call(wrong)]).toEqual([wrong, NOT_FOUND]);
    }
  });

  test('prompts are named and found likewise', async () => {
    const one = await scene.serve({ era: 'legacy', ...promptsOf('one', ['greet', 'own']) });
    const two = await scene.serve({ era: 'modern', ...promptsOf('two', ['greet']) });
    const servers = { one: http(one.url), two: http(two.url) };
    const endpoint = {
      ...{ names: 'priority', priority: ['two', 'one'] },
      servers: { one: { key: 'first', prompts: { own: 'mine' } } },
    };
    const [ada] = (await scene.begin(settingsWith(servers, endpoint))) as [Person];
    for (const asker of Object.values(await asking(ada))) {
      const names = await asker.list('prompts/list');
      expect(names).toEqual(['first__greet', 'mine', 'greet']);
      const got = await Promise.all(names.map((name) => asker.ask('prompts/get', { name })));
      expect(got.map(({ result }) => result?.['description'])).toEqual(['one greet', 'one own', 'two greet']);
      for (const name of ['own', 'nothing', 'one__greet'])
        expect((await asker.ask('prompts/get', { name })).error?.code).toBe(-32602);
    }
  });

  test('while the first of the list cannot be listed', async () => {
    const first = await scene.serve({ era: 'legacy', respond: () => 'reset' });
    const second = await scene.serve({ era: 'modern', tools: toolsOf('second', ['search', 'other']) });
    const servers = { first: http(first.url), second: http(second.url) };
    const [ada] = (await scene.begin(
      settingsWith(servers, { names: 'priority', priority: ['first', 'second'] }),
    )) as [Person];
    const { modern, legacy } = await asking(ada);
    for (const asker of [modern, legacy]) {
      expect(await asker.list('tools/list')).toEqual(['second__search', 'second__other']);
      expect(await asker.call('second__search')).toBe('second search');
      // Whose these are nobody knows, so nobody gets what is meant for another.
      for (const name of ['search', 'other'])
        expect(await asker.call(name)).toMatch(/^MCP_(UNREACHABLE|BREAKER_OPEN)$/);
    }
    expect(second.received('tools/call')).toHaveLength(2);
  });

  test('after the first of the list went away, for who keeps calling', async () => {
    const first = await scene.serve({ era: 'legacy', tools: toolsOf('first', ['search']) });
    const second = await scene.serve({ era: 'modern', tools: toolsOf('second', ['search', 'other']) });
    const servers = { first: http(first.url), second: http(second.url) };
    const [ada] = (await scene.begin(
      settingsWith(servers, { names: 'priority', priority: ['first', 'second'] }),
    )) as [Person];
    const { modern, legacy } = await asking(ada);
    expect(await modern.list('tools/list')).toEqual(['search', 'second__search', 'other']);
    expect(await modern.call('search')).toBe('first search');
    await first.close();
    for (const asker of [modern, legacy]) {
      expect(await asker.call('search')).toMatch(/^MCP_(UNREACHABLE|OUTCOME_UNCERTAIN)$/);
      expect(await asker.call('other')).toBe('second other');
    }
    expect(second.received('tools/call').map(({ message }) => message?.params?.['name'])).toEqual([
      'other',
      'other',
    ]);
  });

  test('for users who may not use the first of the list', async () => {
    const first = await scene.serve({ era: 'legacy', tools: toolsOf('first', ['search']) });
    const second = await scene.serve({ era: 'modern', tools: toolsOf('second', ['search', 'other']) });
    const servers = {
      first: http(first.url, { access: { roles: ['ADMIN'] } }),
      second: http(second.url),
    };
    const [ada, bob] = (await scene.begin(
      settingsWith(servers, { names: 'priority', priority: ['first', 'second'] }),
      [{ name: 'Ada', role: 'ADMIN' }, 'Bob'],
    )) as [Person, Person];
    expect(await (await asking(ada)).modern.list('tools/list')).toEqual([
      'search',
      'second__search',
      'other',
    ]);
    for (const asker of Object.values(await asking(bob))) {
      expect(await asker.list('tools/list')).toEqual(['second__search', 'second__other']);
      // One name never means one thing to Ada and another to Bob.
      for (const name of ['search', 'other', 'nothing']) expect(await asker.call(name)).toBe(NOT_FOUND);
    }
    expect(second.received('tools/call')).toHaveLength(0);
  });

  test('where the list of the first was cut off', async () => {
    const tools = Array.from({ length: 1_001 }, (_, index) => ({ name: `t${index}` }));
    const first = await scene.serve({ era: 'legacy', tools });
    const second = await scene.serve({ era: 'modern', tools: toolsOf('second', ['t1000', 't0']) });
    const servers = { first: http(first.url), second: http(second.url) };
    const [ada] = (await scene.begin(
      settingsWith(servers, { names: 'priority', priority: ['first', 'second'] }),
    )) as [Person];
    const { modern } = await asking(ada);
    expect(await modern.call('t0')).toBe('{}');
    expect(await modern.call('t1000')).toBe(NOT_FOUND);
    expect(second.received('tools/call')).toHaveLength(0);
  });

  test('neither plain names, nor a key, nor an alias', async () => {
    const own = await scene.serve({
      era: 'legacy',
      tools: toolsOf('own', ['search', 'free', 'gone', 'gh__x']),
    });
    const files = await scene.serve({ era: 'modern', tools: toolsOf('files', ['search', 'x']) });
    const servers = { files: http(files.url) };
    const endpoint = {
      ...{ names: 'priority', priority: ['files'] },
      servers: { files: { key: 'gh', tools: { x: 'chosen', lost: 'gone' } } },
    };
    const [ada, bob] = (await scene.begin(settingsWith(servers, endpoint, [own]), ['Ada', 'Bob'])) as [
      Person,
      Person,
    ];
    const { serverName, dbId } = await ownServer(ada, own, 'gh');
    expect(serverName).toBe('gh');
    await shareServer(ada, dbId, [bob]);
    for (const who of [ada, bob]) {
      const { modern } = await asking(who);
      await eventually('it is shared', async () => (await modern.list('tools/list')).length > 2);
      const names = await modern.list('tools/list');
      expect(names.slice(0, 2)).toEqual(['search', 'chosen']);
      for (const name of names.slice(2)) expect(name).toMatch(/^gh-[0-9a-f]{8}__/);
      expect(names).toHaveLength(6);
      expect(await modern.call('search')).toBe('files search');
      expect(await modern.call('chosen')).toBe('files x');
      expect(await modern.call('gh__x')).toBe('files x');
      expect(await modern.call(names[3]!)).toBe('own free');
      for (const name of ['free', 'gone', 'gh__free', 'x'])
        expect([name, await modern.call(name)]).toEqual([name, NOT_FOUND]);
    }
  });

  test('whatever else has that name, and a reload changes them', async () => {
    const one = await scene.serve({ era: 'legacy', tools: toolsOf('one', ['look', 'echo']) });
    const two = await scene.serve({ era: 'modern', tools: toolsOf('two', ['look', 'find']) });
    const servers = { one: http(one.url), 'two of them': http(two.url) };
    const endpoint = { servers: { 'two of them': { key: 'two', tools: { look: 'echo' } } } };
    const [ada] = (await scene.begin(settingsWith(servers, endpoint))) as [Person];
    const askers = await asking(ada);
    for (const asker of Object.values(askers)) {
      expect(await asker.list('tools/list')).toEqual(['one__look', 'one__echo', 'echo', 'two__find']);
      expect(await asker.call('echo')).toBe('two look');
      expect(await asker.call('two__look')).toBe('two look');
      expect(await asker.call('two__find')).toBe('two find');
    }
    const swapped = {
      ...{ names: 'priority', priority: ['one'] },
      servers: { 'two of them': { tools: { look: 'echo' } } },
    };
    await scene.gateway.configure(settingsWith(servers, swapped));
    const names = await askers.modern.list('tools/list');
    expect(names).toEqual([
      'look',
      'one__echo',
      'echo',
      expect.stringMatching(/^two-of-them-[0-9a-f]{8}__find$/),
    ]);
    expect(await askers.modern.call('echo')).toBe('two look');
    expect(await askers.modern.call('two__find')).toBe(NOT_FOUND);
  });
});
