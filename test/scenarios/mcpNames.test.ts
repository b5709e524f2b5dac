import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import {
  createLegacyEndpointClient,
  createModernClient,
  createUserServer,
  createPrompts,
  createEndpointSettings,
  shareServerWith,
  createTools,
} from './endpointRig.ts';
import { createWireClient } from './mcpClient.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition } from './serverYaml.ts';

const NOT_FOUND = 'MCP_TOOL_NOT_FOUND';

describe('names at the MCP endpoint that the operator chose', () => {
  const rig = createGatewayRig();

  async function asking(who: TestUser) {
    const client = await createWireClient(who, rig.gateway.url);
    return { modern: createModernClient(client), legacy: await createLegacyEndpointClient(client) };
  }

  test('in both eras, and nothing is left out', async () => {
    const one = await rig.startServer({
      era: 'legacy',
      tools: createTools('one', ['search', 'a.b', 'x__y', 'own']),
    });
    const two = await rig.startServer({ era: 'modern', tools: createTools('two', ['search', 'find']) });
    const three = await rig.startServer({ era: 'legacy', tools: createTools('three', ['find', 'plain']) });
    const servers = {
      one: httpDefinition(one.url),
      two: httpDefinition(two.url),
      three: httpDefinition(three.url),
    };
    const [ada] = (await rig.start(
      createEndpointSettings(servers, { names: 'priority', priority: ['two', 'one'] }),
    )) as [TestUser];
    for (const client of Object.values(await asking(ada))) {
      const names = await client.list('tools/list');
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
      const said = await Promise.all(names.map((name) => client.call(name)));
      expect(said).toEqual([
        ...['one search', 'one a.b', 'one x__y', 'one own', 'three find', 'three plain'],
        ...['two search', 'two find'],
      ]);
      // The name with the server's key is always one too, whatever happens to those without.
      expect(await client.call('two__search')).toBe('two search');
      for (const wrong of ['plain', 'a.b', 'x__y', 'nothing', 'y'])
        expect([wrong, await client.call(wrong)]).toEqual([wrong, NOT_FOUND]);
    }
  });

  test('prompts are named and found likewise', async () => {
    const one = await rig.startServer({ era: 'legacy', ...createPrompts('one', ['greet', 'own']) });
    const two = await rig.startServer({ era: 'modern', ...createPrompts('two', ['greet']) });
    const servers = { one: httpDefinition(one.url), two: httpDefinition(two.url) };
    const endpoint = {
      ...{ names: 'priority', priority: ['two', 'one'] },
      servers: { one: { key: 'first', prompts: { own: 'mine' } } },
    };
    const [ada] = (await rig.start(createEndpointSettings(servers, endpoint))) as [TestUser];
    for (const client of Object.values(await asking(ada))) {
      const names = await client.list('prompts/list');
      expect(names).toEqual(['first__greet', 'mine', 'greet']);
      const got = await Promise.all(names.map((name) => client.send('prompts/get', { name })));
      expect(got.map(({ result }) => result?.['description'])).toEqual(['one greet', 'one own', 'two greet']);
      for (const name of ['own', 'nothing', 'one__greet'])
        expect((await client.send('prompts/get', { name })).error?.code).toBe(-32602);
    }
  });

  test('while the first of the list cannot be listed', async () => {
    const first = await rig.startServer({ era: 'legacy', respond: () => 'reset' });
    const second = await rig.startServer({
      era: 'modern',
      tools: createTools('second', ['search', 'other']),
    });
    const servers = { first: httpDefinition(first.url), second: httpDefinition(second.url) };
    const [ada] = (await rig.start(
      createEndpointSettings(servers, { names: 'priority', priority: ['first', 'second'] }),
    )) as [TestUser];
    const { modern, legacy } = await asking(ada);
    for (const client of [modern, legacy]) {
      expect(await client.list('tools/list')).toEqual(['second__search', 'second__other']);
      expect(await client.call('second__search')).toBe('second search');
      // Whose these are nobody knows, so nobody gets what is meant for another.
      for (const name of ['search', 'other'])
        expect(await client.call(name)).toMatch(/^MCP_(UNREACHABLE|BREAKER_OPEN)$/);
    }
    expect(second.received('tools/call')).toHaveLength(2);
  });

  test('after the first of the list went away, for who keeps calling', async () => {
    const first = await rig.startServer({ era: 'legacy', tools: createTools('first', ['search']) });
    const second = await rig.startServer({
      era: 'modern',
      tools: createTools('second', ['search', 'other']),
    });
    const servers = { first: httpDefinition(first.url), second: httpDefinition(second.url) };
    const [ada] = (await rig.start(
      createEndpointSettings(servers, { names: 'priority', priority: ['first', 'second'] }),
    )) as [TestUser];
    const { modern, legacy } = await asking(ada);
    expect(await modern.list('tools/list')).toEqual(['search', 'second__search', 'other']);
    expect(await modern.call('search')).toBe('first search');
    await first.close();
    for (const client of [modern, legacy]) {
      expect(await client.call('search')).toMatch(/^MCP_(UNREACHABLE|OUTCOME_UNCERTAIN)$/);
      expect(await client.call('other')).toBe('second other');
    }
    expect(second.received('tools/call').map(({ message }) => message?.params?.['name'])).toEqual([
      'other',
      'other',
    ]);
  });

  test('for users who may not use the first of the list', async () => {
    const first = await rig.startServer({ era: 'legacy', tools: createTools('first', ['search']) });
    const second = await rig.startServer({
      era: 'modern',
      tools: createTools('second', ['search', 'other']),
    });
    const servers = {
      first: httpDefinition(first.url, { access: { roles: ['ADMIN'] } }),
      second: httpDefinition(second.url),
    };
    const [ada, bob] = (await rig.start(
      createEndpointSettings(servers, { names: 'priority', priority: ['first', 'second'] }),
      [{ name: 'Ada', role: 'ADMIN' }, 'Bob'],
    )) as [TestUser, TestUser];
    expect(await (await asking(ada)).modern.list('tools/list')).toEqual([
      'search',
      'second__search',
      'other',
    ]);
    for (const client of Object.values(await asking(bob))) {
      expect(await client.list('tools/list')).toEqual(['second__search', 'second__other']);
      // One name never means one thing to Ada and another to Bob.
      for (const name of ['search', 'other', 'nothing']) expect(await client.call(name)).toBe(NOT_FOUND);
    }
    expect(second.received('tools/call')).toHaveLength(0);
  });

  test('where the list of the first was cut off', async () => {
    const tools = Array.from({ length: 1_001 }, (_, index) => ({ name: `t${index}` }));
    const first = await rig.startServer({ era: 'legacy', tools });
    const second = await rig.startServer({ era: 'modern', tools: createTools('second', ['t1000', 't0']) });
    const servers = { first: httpDefinition(first.url), second: httpDefinition(second.url) };
    const [ada] = (await rig.start(
      createEndpointSettings(servers, { names: 'priority', priority: ['first', 'second'] }),
    )) as [TestUser];
    const { modern } = await asking(ada);
    expect(await modern.call('t0')).toBe('{}');
    expect(await modern.call('t1000')).toBe(NOT_FOUND);
    expect(second.received('tools/call')).toHaveLength(0);
  });

  test('neither plain names, nor a key, nor an alias', async () => {
    const own = await rig.startServer({
      era: 'legacy',
      tools: createTools('own', ['search', 'free', 'gone', 'gh__x']),
    });
    const files = await rig.startServer({ era: 'modern', tools: createTools('files', ['search', 'x']) });
    const servers = { files: httpDefinition(files.url) };
    const endpoint = {
      ...{ names: 'priority', priority: ['files'] },
      servers: { files: { key: 'gh', tools: { x: 'chosen', lost: 'gone' } } },
    };
    const [ada, bob] = (await rig.start(createEndpointSettings(servers, endpoint, [own]), [
      'Ada',
      'Bob',
    ])) as [TestUser, TestUser];
    const { serverName, dbId } = await createUserServer(ada, own, 'gh');
    expect(serverName).toBe('gh');
    await shareServerWith(ada, dbId, [bob]);
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
    const one = await rig.startServer({ era: 'legacy', tools: createTools('one', ['look', 'echo']) });
    const two = await rig.startServer({ era: 'modern', tools: createTools('two', ['look', 'find']) });
    const servers = { one: httpDefinition(one.url), 'two of them': httpDefinition(two.url) };
    const endpoint = { servers: { 'two of them': { key: 'two', tools: { look: 'echo' } } } };
    const [ada] = (await rig.start(createEndpointSettings(servers, endpoint))) as [TestUser];
    const askers = await asking(ada);
    for (const client of Object.values(askers)) {
      expect(await client.list('tools/list')).toEqual(['one__look', 'one__echo', 'echo', 'two__find']);
      expect(await client.call('echo')).toBe('two look');
      expect(await client.call('two__look')).toBe('two look');
      expect(await client.call('two__find')).toBe('two find');
    }
    const swapped = {
      ...{ names: 'priority', priority: ['one'] },
      servers: { 'two of them': { tools: { look: 'echo' } } },
    };
    await rig.gateway.reload(createEndpointSettings(servers, swapped));
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
