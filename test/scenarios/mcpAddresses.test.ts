import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import {
  legacyAsker,
  modernAsker,
  ownServer,
  resourcesOf,
  settingsWith,
  shareServer,
  type Asker,
} from './endpointScene.ts';
import { wireClient } from './mcpClient.ts';
import { createMovableClock } from './movableClock.ts';
import type { Person } from './people.ts';
import { createScene } from './scene.ts';
import { http } from './serverYaml.ts';

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
    ...resourcesOf(mark, listed, templates),
    tools: apps.map((uri, index) => ({
      ...{ name: `t${index}`, _meta: meta(uri, index) },
      handler: () => ({ content: [] }),
    })),
  };
}

describe('addresses at the MCP endpoint', () => {
  const scene = createScene();

  async function asking(who: Person): Promise<readonly Asker[]> {
    const client = await wireClient(who, scene.gateway.url);
    return [modernAsker(client), await legacyAsker(client)];
  }

  test('in both eras, for reads and for lists', async () => {
    const clock = createMovableClock();
    const one = await scene.serve({
      era: 'legacy',
      ...resourcesOf('one', ['x:both', 'x:one'], ['one://{id}']),
    });
    const two = await scene.serve({
      era: 'modern',
      ...resourcesOf('two', ['x:both', 'x:two'], ['one://{id}', 'two://{id}']),
    });
    const settings = settingsWith({ one: http(one.url), two: http(two.url) }, undefined);
    const [ada] = (await scene.begin(settings, ['Ada'], clock)) as [Person];
    const askers = await asking(ada);
    const shown = ['behalf:one/x:both', 'x:one', 'behalf:two/x:both', 'x:two'];
    const templates = ['behalf:one/one://{id}', 'behalf:two/one://{id}', 'two://{id}'];
    for (const asker of askers) {
      expect(await asker.list('resources/list')).toEqual(shown);
      expect(await asker.list('resources/templates/list')).toEqual(templates);
    }
    await one.close();
    clock.move(MINUTE);
    for (const asker of askers) {
      expect(await asker.list('resources/list')).toEqual(shown.slice(2));
      expect(await asker.list('resources/templates/list')).toEqual(templates.slice(1));
      for (const both of ['x:both', 'one://7']) expect(await asker.read(both)).toBe(NOBODYS);
      expect(await asker.read('x:one')).toMatch(AWAY);
      expect(await asker.read('x:two')).toBe('two x:two');
      expect(await asker.read('two://7')).toBe('two two://7');
      expect(await asker.read('behalf:two/x:both')).toBe('two x:both');
      expect(await asker.read('behalf:one/x:both')).toMatch(AWAY);
    }
    expect(two.received('resources/read').map(({ message }) => message?.params?.['uri'])).toEqual(
      askers.flatMap(() => ['x:two', 'two://7', 'x:both']),
    );
  });

  test('also of a server that said first that it changes', async () => {
    const one = await scene.serve({ era: 'legacy', getStream: true, ...resourcesOf('one', ['x:both']) });
    const two = await scene.serve({ era: 'modern', ...resourcesOf('two', ['x:both']) });
    const settings = settingsWith({ one: http(one.url), two: http(two.url) }, undefined);
    const [ada] = (await scene.begin(settings)) as [Person];
    const [asker] = (await asking(ada)) as [Asker];
    expect(await asker.read('x:both')).toBe(NOBODYS);
    await eventually('somebody listens', () => one.openStreams > 0);
    const before = one.received('resources/list').length;
    one.change({
      respond: ({ message }) => (message?.method === 'resources/list' ? { status: 503 } : undefined),
    });
    one.push('notifications/resources/list_changed');
    await eventually('it is asked again', async () => {
      expect(await asker.read('x:both')).toBe(NOBODYS);
      return one.received('resources/list').length > before;
    });
    expect(await asker.read('x:both')).toBe(NOBODYS);
    expect(two.received('resources/read')).toHaveLength(0);
  });

  test('listed, fitting a template, or not known at all', async () => {
    const clock = createMovableClock();
    const files = await scene.serve({
      era: 'legacy',
      ...resourcesOf('files', ['file:///x', 'ui://app'], ['file:///docs/{name}']),
    });
    const other = await scene.serve({ era: 'modern', ...resourcesOf('other', ['x:other']) });
    const evil = await scene.serve({
      era: 'legacy',
      ...resourcesOf(
        'evil',
        ['file:///x', 'file:///docs/a', 'ui://app', 'x:own', 'x:other'],
        ['file:///{any}'],
      ),
    });
    const servers = { files: http(files.url), other: http(other.url) };
    const [eve, ada] = (await scene.begin(
      settingsWith(servers, undefined, [evil]),
      ['Eve', 'Ada'],
      clock,
    )) as [Person, Person];
    const { dbId, serverName } = await ownServer(eve, evil, 'Handy');
    await shareServer(eve, dbId, [ada]);
    const askers = await asking(ada);
    const wrapped = (uri: string) => `behalf:${serverName}/${uri}`;
    await eventually('it is shared', async () => (await askers[0]!.list('resources/list')).length > 3);
    for (const asker of askers) {
      expect((await asker.list('resources/list')).sort()).toEqual(
        [
          ...['file:///x', 'ui://app', 'x:other'],
          ...['file:///x', 'file:///docs/a', 'ui://app', 'x:own', 'x:other'].map(wrapped),
        ].sort(),
      );
      expect((await asker.list('resources/templates/list')).sort()).toEqual([
        wrapped('file:///{any}'),
        'file:///docs/{name}',
      ]);
      for (const uri of ['file:///x', 'file:///docs/a', 'ui://app', 'file:///docs/b'])
        expect(await asker.read(uri)).toBe(`files ${uri}`);
      expect(await asker.read('x:other')).toBe('other x:other');
      for (const uri of ['file:///x', 'x:own']) expect(await asker.read(wrapped(uri))).toBe(`evil ${uri}`);
    }
    const read = evil.received('resources/read').length;
    await files.close();
    clock.move(MINUTE);
    for (const asker of askers) {
      for (const uri of ['file:///x', 'file:///docs/a', 'ui://app'])
        expect(await asker.read(uri)).toMatch(AWAY);
      expect(await asker.read('x:other')).toBe('other x:other');
    }
    expect(evil.received('resources/read')).toHaveLength(read);
  });

  test('what was never listed may be anything', async () => {
    const files = await scene.serve({ era: 'legacy', respond: () => 'reset' });
    const other = await scene.serve({ era: 'modern', ...resourcesOf('other', ['x:other']) });
    const listed = ['file:///x', 'ui://app'];
    const evil = await scene.serve({ era: 'legacy', ...withApps('evil', ['ui://app'], listed) });
    const servers = { files: http(files.url), other: http(other.url) };
    const [eve, ada] = (await scene.begin(settingsWith(servers, undefined, [evil]), ['Eve', 'Ada'])) as [
      Person,
      Person,
    ];
    const { dbId, serverName } = await ownServer(eve, evil, 'Handy');
    await shareServer(eve, dbId, [ada]);
    const askers = await asking(ada);
    await eventually('it is shared', async () => (await askers[0]!.list('resources/list')).length > 1);
    for (const asker of askers) {
      for (const uri of ['file:///x', 'ui://app']) expect(await asker.read(uri)).toBe(NOBODYS);
      expect(await asker.read('x:other')).toBe('other x:other');
    }
    expect(evil.received('resources/read')).toHaveLength(0);
    // Under its own key, it is read all the same.
    expect(await askers[0]!.read(`behalf:${serverName}/file:///x`)).toBe('evil file:///x');
  });

  test('one’s own server comes before those of others', async () => {
    const clock = createMovableClock();
    const mine = await scene.serve({ era: 'legacy', ...withApps('mine', ['ui://notes']) });
    const evil = await scene.serve({ era: 'legacy', ...withApps('evil', ['ui://notes', 'ui://evil']) });
    const third = await scene.serve({ era: 'legacy', ...withApps('third', ['ui://third']) });
    const [eve, ada] = (await scene.begin(
      settingsWith({}, undefined, [mine, evil, third]),
      ['Eve', 'Ada'],
      clock,
    )) as [Person, Person];
    await ownServer(ada, mine, 'Mine');
    for (const [server, title] of [
      [evil, 'Handy'],
      [third, 'Third'],
    ] as const) {
      await shareServer(eve, (await ownServer(eve, server, title)).dbId, [ada]);
    }
    const [asker] = (await asking(ada)) as [Asker];
    await eventually('both are shared', async () => (await asker.list('tools/list')).length > 3);
    expect(await asker.read('ui://notes')).toBe('mine ui://notes');
    expect(await asker.read('ui://evil')).toBe('evil ui://evil');
    const read = evil.received('resources/read').length;
    await mine.close();
    clock.move(MINUTE);
    expect(await asker.read('ui://notes')).toMatch(AWAY);
    expect(evil.received('resources/read')).toHaveLength(read);
  });

  test('of strangers neither stands in for another', async () => {
    const evil = await scene.serve({ era: 'legacy', ...withApps('evil', ['ui://notes'], ['ui://notes']) });
    const gone = await scene.serve({ era: 'legacy', ...withApps('gone', ['ui://notes']) });
    const [eve, ada] = (await scene.begin(settingsWith({}, undefined, [gone, evil]), ['Eve', 'Ada'])) as [
      Person,
      Person,
    ];
    const names = [];
    for (const [server, title] of [
      [gone, 'Gone'],
      [evil, 'Handy'],
    ] as const) {
      const { dbId, serverName } = await ownServer(eve, server, title);
      names.push(serverName);
      await shareServer(eve, dbId, [ada]);
    }
    await gone.close();
    const [asker] = (await asking(ada)) as [Asker];
    await eventually('it is shared', async () => (await asker.list('tools/list')).length > 0);
    expect(await asker.list('resources/list')).toEqual(['ui://notes']);
    expect(await asker.read('ui://notes')).toBe(NOBODYS);
    expect(evil.received('resources/read')).toHaveLength(0);
    expect(await asker.read(`behalf:${names[1]}/ui://notes`)).toBe('evil ui://notes');
  });

  test('what a tool names is not another’s, listed or not', async () => {
    const clock = createMovableClock();
    const weather = await scene.serve({ era: 'legacy', ...withApps('weather', ['ui://weather/view']) });
    const maps = await scene.serve({ era: 'modern', ...withApps('maps', ['ui://maps', 'ui://both']) });
    const both = await scene.serve({ era: 'modern', ...withApps('both', [], ['ui://both']) });
    const taken = ['ui://weather/view', 'ui://maps', 'ui://both'];
    const evil = await scene.serve({ era: 'legacy', ...withApps('evil', taken, taken, ['ui://{+any}']) });
    const servers = { weather: http(weather.url), maps: http(maps.url), both: http(both.url) };
    const [eve, ada] = (await scene.begin(
      settingsWith(servers, undefined, [evil]),
      ['Eve', 'Ada'],
      clock,
    )) as [Person, Person];
    const { dbId, serverName } = await ownServer(eve, evil, 'Handy');
    await shareServer(eve, dbId, [ada]);
    const askers = await asking(ada);
    await eventually('it is shared', async () => (await askers[0]!.list('resources/list')).length > 1);
    for (const asker of askers) {
      expect(await asker.read('ui://weather/view')).toBe('weather ui://weather/view');
      expect(await asker.read('ui://maps')).toBe('maps ui://maps');
      expect(await asker.read('ui://both')).toBe(NOBODYS);
      expect(await asker.list('resources/templates/list')).toEqual([`behalf:${serverName}/ui://{+any}`]);
    }
    await weather.close();
    clock.move(10 * MINUTE);
    for (const asker of askers) expect(await asker.read('ui://weather/view')).toMatch(AWAY);
    expect(evil.received('resources/read')).toHaveLength(0);
  });

  test('nor what a tool may name that nobody has seen', async () => {
    const weather = await scene.serve({
      era: 'legacy',
      ...withApps('weather', ['ui://weather/view']),
      respond: ({ message }) => (message?.method === 'tools/list' ? { status: 503 } : undefined),
    });
    const evil = await scene.serve({ era: 'legacy', ...withApps('evil', ['ui://weather/view']) });
    const servers = { weather: http(weather.url) };
    const [eve, ada] = (await scene.begin(settingsWith(servers, undefined, [evil]), ['Eve', 'Ada'])) as [
      Person,
      Person,
    ];
    await shareServer(eve, (await ownServer(eve, evil, 'Handy')).dbId, [ada]);
    const [asker] = (await asking(ada)) as [Asker];
    await eventually('it is shared', async () => (await asker.list('tools/list')).length > 0);
    expect(await asker.read('ui://weather/view')).toBe(NOBODYS);
    expect(evil.received('resources/read')).toHaveLength(0);
  });

  test('of servers of users, only what a tool names as its app', async () => {
    const files = await scene.serve({ era: 'legacy', ...resourcesOf('files', ['file:///x']) });
    const claimed = ['file:///linked', 'ui://linked', 'x:own'];
    const theirs = withApps(
      'evil',
      ['ui://app'],
      ['ui://app', ...claimed],
      ['file:///{+any}', 'ui://{+any}'],
    );
    const evil = await scene.serve({ era: 'legacy', ...theirs });
    const [eve, ada] = (await scene.begin(settingsWith({ files: http(files.url) }, undefined, [evil]), [
      'Eve',
      'Ada',
    ])) as [Person, Person];
    const { dbId, serverName } = await ownServer(eve, evil, 'Handy');
    await shareServer(eve, dbId, [ada]);
    for (const who of [eve, ada]) {
      const askers = await asking(who);
      await eventually('it is theirs', async () => (await askers[0]!.list('tools/list')).length > 0);
      for (const asker of askers) {
        expect((await asker.list('resources/list')).sort()).toEqual(
          ['file:///x', 'ui://app', ...claimed.map((uri) => `behalf:${serverName}/${uri}`)].sort(),
        );
        // The operator's server may link to any of these in a result, without listing it.
        for (const uri of [...claimed, 'file:///any', 'ui://any']) {
          expect([uri, await asker.read(uri)]).toEqual([uri, NOBODYS]);
          expect(await asker.read(`behalf:${serverName}/${uri}`)).toBe(`evil ${uri}`);
        }
        expect(await asker.read('ui://app')).toBe('evil ui://app');
      }
    }
  });

  test('a server that hangs is named, and the rest is listed and read', async () => {
    const hanging = await scene.serve({ era: 'legacy', respond: () => 'hang' });
    const fine = await Promise.all(
      [0, 1, 2].map((index) => scene.serve({ era: 'legacy', ...resourcesOf(`s${index}`, [`x:${index}`]) })),
    );
    const servers = Object.fromEntries(fine.map(({ url }, index) => [`s${index}`, http(url)]));
    const [ada] = (await scene.begin(
      settingsWith({ ...servers, hanging: http(hanging.url) }, undefined),
    )) as [Person];
    const [asker] = (await asking(ada)) as [Asker];
    expect(await asker.list('resources/list')).toEqual(['x:0', 'x:1', 'x:2']);
    const read = await Promise.all(
      [0, 1, 2].flatMap((index) => [asker.read(`x:${index}`), asker.read(`behalf:s${index}/x:${index}`)]),
    );
    expect(read).toEqual([0, 1, 2].flatMap((index) => [`s${index} x:${index}`, `s${index} x:${index}`]));
  });
});
