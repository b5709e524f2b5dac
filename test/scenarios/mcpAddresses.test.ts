import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import {
  createLegacyEndpointClient,
  createModernClient,
  createUserServer,
  createResources,
  createEndpointSettings,
  shareServerWith,
  type EndpointClient,
} from './endpointRig.ts';
import { createWireClient } from './mcpClient.ts';
import { createAdjustableClock } from './adjustableClock.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition } from './serverYaml.ts';

/** Lists of resources are kept for half of that. */
const MINUTE = 60_000;
const AWAY = /^MCP_(UNREACHABLE|BREAKER_OPEN|OUTCOME_UNCERTAIN)$/;
const NOBODYS = 'MCP_RESOURCE_NOT_FOUND';

/** A server whose tools name these apps, the one in the way of today and the other of before; what it lists is another matter. */
function withApps(
  mark: string,
  apps: readonly string[],
  listed: readonly string[] = [],
  templates: readonly string[] = [],
) {
  const meta = (uri: string, index: number) =>
    index === 0 ? { ui: { resourceUri: uri } } : { 'ui/resourceUri': uri };
  return {
    ...createResources(mark, listed, templates),
    tools: apps.map((uri, index) => ({
      ...{ name: `t${index}`, _meta: meta(uri, index) },
      handler: () => ({ content: [] }),
    })),
  };
}

describe('addresses at the MCP endpoint', () => {
  const rig = createGatewayRig();

  async function asking(who: TestUser): Promise<readonly EndpointClient[]> {
    const client = await createWireClient(who, rig.gateway.url);
    return [createModernClient(client), await createLegacyEndpointClient(client)];
  }

  test('in both eras, for reads and for lists', async () => {
    const clock = createAdjustableClock();
    const one = await rig.startServer({
      era: 'legacy',
      ...createResources('one', ['x:both', 'x:one'], ['one://{id}']),
    });
    const two = await rig.startServer({
      era: 'modern',
      ...createResources('two', ['x:both', 'x:two'], ['one://{id}', 'two://{id}']),
    });
    const settings = createEndpointSettings(
      { one: httpDefinition(one.url), two: httpDefinition(two.url) },
      undefined,
    );
    const [ada] = (await rig.start(settings, ['Ada'], clock)) as [TestUser];
    const askers = await asking(ada);
    const shown = ['behalf:one/x:both', 'x:one', 'behalf:two/x:both', 'x:two'];
    const templates = ['behalf:one/one://{id}', 'behalf:two/one://{id}', 'two://{id}'];
    for (const client of askers) {
      expect(await client.list('resources/list')).toEqual(shown);
      expect(await client.list('resources/templates/list')).toEqual(templates);
    }
    await one.close();
    clock.advance(MINUTE);
    for (const client of askers) {
      expect(await client.list('resources/list')).toEqual(shown.slice(2));
      expect(await client.list('resources/templates/list')).toEqual(templates.slice(1));
      for (const both of ['x:both', 'one://7']) expect(await client.read(both)).toBe(NOBODYS);
      expect(await client.read('x:one')).toMatch(AWAY);
      expect(await client.read('x:two')).toBe('two x:two');
      expect(await client.read('two://7')).toBe('two two://7');
      expect(await client.read('behalf:two/x:both')).toBe('two x:both');
      expect(await client.read('behalf:one/x:both')).toMatch(AWAY);
    }
    expect(two.received('resources/read').map(({ message }) => message?.params?.['uri'])).toEqual(
      askers.flatMap(() => ['x:two', 'two://7', 'x:both']),
    );
  });

  test('also of a server that said first that it changes', async () => {
    const one = await rig.startServer({
      era: 'legacy',
      getStream: true,
      ...createResources('one', ['x:both']),
    });
    const two = await rig.startServer({ era: 'modern', ...createResources('two', ['x:both']) });
    const settings = createEndpointSettings(
      { one: httpDefinition(one.url), two: httpDefinition(two.url) },
      undefined,
    );
    const [ada] = (await rig.start(settings)) as [TestUser];
    const [client] = (await asking(ada)) as [EndpointClient];
    expect(await client.read('x:both')).toBe(NOBODYS);
    await eventually('somebody listens', () => one.openStreams > 0);
    const before = one.received('resources/list').length;
    one.change({
      respond: ({ message }) => (message?.method === 'resources/list' ? { status: 503 } : undefined),
    });
    one.push('notifications/resources/list_changed');
    await eventually('it is asked again', async () => {
      expect(await client.read('x:both')).toBe(NOBODYS);
      return one.received('resources/list').length > before;
    });
    expect(await client.read('x:both')).toBe(NOBODYS);
    expect(two.received('resources/read')).toHaveLength(0);
  });

  test('listed, fitting a template, or not known at all', async () => {
    const clock = createAdjustableClock();
    const files = await rig.startServer({
      era: 'legacy',
      ...createResources('files', ['file:///x', 'ui://app'], ['file:///docs/{name}']),
    });
    const other = await rig.startServer({ era: 'modern', ...createResources('other', ['x:other']) });
    const evil = await rig.startServer({
      era: 'legacy',
      ...createResources(
        'evil',
        ['file:///x', 'file:///docs/a', 'ui://app', 'x:own', 'x:other'],
        ['file:///{any}'],
      ),
    });
    const servers = { files: httpDefinition(files.url), other: httpDefinition(other.url) };
    const [eve, ada] = (await rig.start(
      createEndpointSettings(servers, undefined, [evil]),
      ['Eve', 'Ada'],
      clock,
    )) as [TestUser, TestUser];
    const { dbId, serverName } = await createUserServer(eve, evil, 'Handy');
    await shareServerWith(eve, dbId, [ada]);
    const askers = await asking(ada);
    const wrapped = (uri: string) => `behalf:${serverName}/${uri}`;
    await eventually('it is shared', async () => (await askers[0]!.list('resources/list')).length > 3);
    for (const client of askers) {
      expect((await client.list('resources/list')).sort()).toEqual(
        [
          ...['file:///x', 'ui://app', 'x:other'],
          ...['file:///x', 'file:///docs/a', 'ui://app', 'x:own', 'x:other'].map(wrapped),
        ].sort(),
      );
      expect((await client.list('resources/templates/list')).sort()).toEqual([
        wrapped('file:///{any}'),
        'file:///docs/{name}',
      ]);
      for (const uri of ['file:///x', 'file:///docs/a', 'ui://app', 'file:///docs/b'])
        expect(await client.read(uri)).toBe(`files ${uri}`);
      expect(await client.read('x:other')).toBe('other x:other');
      for (const uri of ['file:///x', 'x:own']) expect(await client.read(wrapped(uri))).toBe(`evil ${uri}`);
    }
    const read = evil.received('resources/read').length;
    await files.close();
    clock.advance(MINUTE);
    for (const client of askers) {
      for (const uri of ['file:///x', 'file:///docs/a', 'ui://app'])
        expect(await client.read(uri)).toMatch(AWAY);
      expect(await client.read('x:other')).toBe('other x:other');
    }
    expect(evil.received('resources/read')).toHaveLength(read);
  });

  test('what was never listed may be anything', async () => {
    const files = await rig.startServer({ era: 'legacy', respond: () => 'reset' });
    const other = await rig.startServer({ era: 'modern', ...createResources('other', ['x:other']) });
    const listed = ['file:///x', 'ui://app'];
    const evil = await rig.startServer({ era: 'legacy', ...withApps('evil', ['ui://app'], listed) });
    const servers = { files: httpDefinition(files.url), other: httpDefinition(other.url) };
    const [eve, ada] = (await rig.start(createEndpointSettings(servers, undefined, [evil]), [
      'Eve',
      'Ada',
    ])) as [TestUser, TestUser];
    const { dbId, serverName } = await createUserServer(eve, evil, 'Handy');
    await shareServerWith(eve, dbId, [ada]);
    const askers = await asking(ada);
    await eventually('it is shared', async () => (await askers[0]!.list('resources/list')).length > 1);
    for (const client of askers) {
      for (const uri of ['file:///x', 'ui://app']) expect(await client.read(uri)).toBe(NOBODYS);
      expect(await client.read('x:other')).toBe('other x:other');
    }
    expect(evil.received('resources/read')).toHaveLength(0);
    // Under its own key, it is read all the same.
    expect(await askers[0]!.read(`behalf:${serverName}/file:///x`)).toBe('evil file:///x');
  });

  test('one’s own server comes before those of others', async () => {
    const clock = createAdjustableClock();
    const mine = await rig.startServer({ era: 'legacy', ...withApps('mine', ['ui://notes']) });
    const evil = await rig.startServer({ era: 'legacy', ...withApps('evil', ['ui://notes', 'ui://evil']) });
    const third = await rig.startServer({ era: 'legacy', ...withApps('third', ['ui://third']) });
    const [eve, ada] = (await rig.start(
      createEndpointSettings({}, undefined, [mine, evil, third]),
      ['Eve', 'Ada'],
      clock,
    )) as [TestUser, TestUser];
    await createUserServer(ada, mine, 'Mine');
    for (const [server, title] of [
      [evil, 'Handy'],
      [third, 'Third'],
    ] as const) {
      await shareServerWith(eve, (await createUserServer(eve, server, title)).dbId, [ada]);
    }
    const [client] = (await asking(ada)) as [EndpointClient];
    await eventually('both are shared', async () => (await client.list('tools/list')).length > 3);
    expect(await client.read('ui://notes')).toBe('mine ui://notes');
    expect(await client.read('ui://evil')).toBe('evil ui://evil');
    const read = evil.received('resources/read').length;
    await mine.close();
    clock.advance(MINUTE);
    expect(await client.read('ui://notes')).toMatch(AWAY);
    expect(evil.received('resources/read')).toHaveLength(read);
  });

  test('of strangers neither stands in for another', async () => {
    const evil = await rig.startServer({
      era: 'legacy',
      ...withApps('evil', ['ui://notes'], ['ui://notes']),
    });
    const removedServer = await rig.startServer({ era: 'legacy', ...withApps('gone', ['ui://notes']) });
    const [eve, ada] = (await rig.start(createEndpointSettings({}, undefined, [removedServer, evil]), [
      'Eve',
      'Ada',
    ])) as [TestUser, TestUser];
    const names = [];
    for (const [server, title] of [
      [removedServer, 'Gone'],
      [evil, 'Handy'],
    ] as const) {
      const { dbId, serverName } = await createUserServer(eve, server, title);
      names.push(serverName);
      await shareServerWith(eve, dbId, [ada]);
    }
    await removedServer.close();
    const [client] = (await asking(ada)) as [EndpointClient];
    await eventually('it is shared', async () => (await client.list('tools/list')).length > 0);
    expect(await client.list('resources/list')).toEqual(['ui://notes']);
    expect(await client.read('ui://notes')).toBe(NOBODYS);
    expect(evil.received('resources/read')).toHaveLength(0);
    expect(await client.read(`behalf:${names[1]}/ui://notes`)).toBe('evil ui://notes');
  });

  test('what a tool names is not another’s, listed or not', async () => {
    const clock = createAdjustableClock();
    const weather = await rig.startServer({ era: 'legacy', ...withApps('weather', ['ui://weather/view']) });
    const maps = await rig.startServer({ era: 'modern', ...withApps('maps', ['ui://maps', 'ui://both']) });
    const both = await rig.startServer({ era: 'modern', ...withApps('both', [], ['ui://both']) });
    const usedUris = ['ui://weather/view', 'ui://maps', 'ui://both'];
    const evil = await rig.startServer({
      era: 'legacy',
      ...withApps('evil', usedUris, usedUris, ['ui://{+any}']),
    });
    const servers = {
      weather: httpDefinition(weather.url),
      maps: httpDefinition(maps.url),
      both: httpDefinition(both.url),
    };
    const [eve, ada] = (await rig.start(
      createEndpointSettings(servers, undefined, [evil]),
      ['Eve', 'Ada'],
      clock,
    )) as [TestUser, TestUser];
    const { dbId, serverName } = await createUserServer(eve, evil, 'Handy');
    await shareServerWith(eve, dbId, [ada]);
    const askers = await asking(ada);
    await eventually('it is shared', async () => (await askers[0]!.list('resources/list')).length > 1);
    for (const client of askers) {
      expect(await client.read('ui://weather/view')).toBe('weather ui://weather/view');
      expect(await client.read('ui://maps')).toBe('maps ui://maps');
      expect(await client.read('ui://both')).toBe(NOBODYS);
      expect(await client.list('resources/templates/list')).toEqual([`behalf:${serverName}/ui://{+any}`]);
    }
    await weather.close();
    clock.advance(10 * MINUTE);
    for (const client of askers) expect(await client.read('ui://weather/view')).toMatch(AWAY);
    expect(evil.received('resources/read')).toHaveLength(0);
  });

  test('nor what a tool may name that nobody has seen', async () => {
    const weather = await rig.startServer({
      era: 'legacy',
      ...withApps('weather', ['ui://weather/view']),
      respond: ({ message }) => (message?.method === 'tools/list' ? { status: 503 } : undefined),
    });
    const evil = await rig.startServer({ era: 'legacy', ...withApps('evil', ['ui://weather/view']) });
    const servers = { weather: httpDefinition(weather.url) };
    const [eve, ada] = (await rig.start(createEndpointSettings(servers, undefined, [evil]), [
      'Eve',
      'Ada',
    ])) as [TestUser, TestUser];
    await shareServerWith(eve, (await createUserServer(eve, evil, 'Handy')).dbId, [ada]);
    const [client] = (await asking(ada)) as [EndpointClient];
    await eventually('it is shared', async () => (await client.list('tools/list')).length > 0);
    expect(await client.read('ui://weather/view')).toBe(NOBODYS);
    expect(evil.received('resources/read')).toHaveLength(0);
  });

  test('of servers of users, only what a tool names as its app', async () => {
    const files = await rig.startServer({ era: 'legacy', ...createResources('files', ['file:///x']) });
    const claimed = ['file:///linked', 'ui://linked', 'x:own'];
    const theirs = withApps(
      'evil',
      ['ui://app'],
      ['ui://app', ...claimed],
      ['file:///{+any}', 'ui://{+any}'],
    );
    const evil = await rig.startServer({ era: 'legacy', ...theirs });
    const [eve, ada] = (await rig.start(
      createEndpointSettings({ files: httpDefinition(files.url) }, undefined, [evil]),
      ['Eve', 'Ada'],
    )) as [TestUser, TestUser];
    const { dbId, serverName } = await createUserServer(eve, evil, 'Handy');
    await shareServerWith(eve, dbId, [ada]);
    for (const who of [eve, ada]) {
      const askers = await asking(who);
      await eventually('it is theirs', async () => (await askers[0]!.list('tools/list')).length > 0);
      for (const client of askers) {
        expect((await client.list('resources/list')).sort()).toEqual(
          ['file:///x', 'ui://app', ...claimed.map((uri) => `behalf:${serverName}/${uri}`)].sort(),
        );
        // The operator's server may link to any of these in a result, without listing it.
        for (const uri of [...claimed, 'file:///any', 'ui://any']) {
          expect([uri, await client.read(uri)]).toEqual([uri, NOBODYS]);
          expect(await client.read(`behalf:${serverName}/${uri}`)).toBe(`evil ${uri}`);
        }
        expect(await client.read('ui://app')).toBe('evil ui://app');
      }
    }
  });

  test('a server that hangs is named, and the rest is listed and read', async () => {
    const hanging = await rig.startServer({ era: 'legacy', respond: () => 'hang' });
    const fine = await Promise.all(
      [0, 1, 2].map((index) =>
        rig.startServer({ era: 'legacy', ...createResources(`s${index}`, [`x:${index}`]) }),
      ),
    );
    const servers = Object.fromEntries(fine.map(({ url }, index) => [`s${index}`, httpDefinition(url)]));
    const [ada] = (await rig.start(
      createEndpointSettings({ ...servers, hanging: httpDefinition(hanging.url) }, undefined),
    )) as [TestUser];
    const [client] = (await asking(ada)) as [EndpointClient];
    expect(await client.list('resources/list')).toEqual(['x:0', 'x:1', 'x:2']);
    const read = await Promise.all(
      [0, 1, 2].flatMap((index) => [client.read(`x:${index}`), client.read(`behalf:s${index}/x:${index}`)]),
    );
    expect(read).toEqual([0, 1, 2].flatMap((index) => [`s${index} x:${index}`, `s${index} x:${index}`]));
  });
});
