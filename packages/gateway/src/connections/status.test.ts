import { describe, expect, test } from '@jest/globals';
import {
  createAppServer,
  createConnectionsRig,
  createHolder,
  stdioTarget,
  waitForImmediate,
  createUserServer,
} from '../../test/connectionsRig.ts';
import { isOfTenant, principalKey } from '../principal/principal.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';

const [app, own] = [createAppServer(), createUserServer()];
const key = (tenant: string, userId: string) => principalKey({ tenant, userId });
const ann = key('acme', 'ann');
const amy = key('acme', 'amy');
const eve = key('evil', 'eve');

function rigFor(tenant = 'acme') {
  const rig = createConnectionsRig();
  rig.onOpen = (pendingOpen) => void pendingOpen.complete();
  const describeAll = (servers: readonly ServerSnapshot[] = [app, own]) =>
    rig.manager.describe(servers, (principal) => isOfTenant(principal, tenant));
  return Object.assign(rig, { describeAll });
}

describe('what is open', () => {
  test('it is told server by server, and nothing is opened', async () => {
    const rig = rigFor();
    const nothing = { users: 0, inFlight: { own: 0, common: 0 }, breakersOpen: 0 };
    const none = { shared: 0, user: 0, stateless: 0 };
    expect(rig.describeAll()).toEqual([
      { server: app, state: 'disconnected', open: none, ...nothing },
      { server: own, open: none, ...nothing },
    ]);
    expect(rig.pendingOpens).toEqual([]);

    rig.onOpen = undefined;
    const pendingLease = rig.leaseShared(app);
    await waitForImmediate();
    expect(rig.describeAll([app])).toMatchObject([{ state: 'connecting', open: none }]);
    rig.pendingOpens[0]?.complete();
    const lease = await pendingLease;
    expect(rig.describeAll([app])).toMatchObject([
      { state: 'connected', open: { shared: 1 }, inFlight: { own: 0, common: 1 } },
    ]);
    lease.release();
    expect(rig.describeAll([app])).toMatchObject([{ open: { shared: 1 }, inFlight: { common: 0 } }]);
    // Of another definition of it there is nothing.
    expect(rig.describeAll([createAppServer('app', '2')])).toMatchObject([
      { state: 'disconnected', open: none },
    ]);
  });

  test('users are counted once, and requests as often as there are', async () => {
    const rig = rigFor();
    const scoped = createUserServer('own', '1', { requestScoped: true });
    const leases = await Promise.all([
      rig.leaseUser(scoped, createHolder(ann, { requestKey: 'one' })),
      rig.leaseUser(scoped, createHolder(ann, { requestKey: 'two' })),
      rig.leaseUser(scoped, createHolder(amy, { requestKey: 'three' })),
    ]);
    expect(rig.describeAll([scoped])).toMatchObject([
      { users: 2, open: { user: 3 }, inFlight: { own: 3, common: 0 } },
    ]);
    for (const lease of leases) lease.release();
    expect(rig.describeAll([scoped])).toMatchObject([{ users: 0, open: { user: 0 } }]);
  });

  test('of users only those of one tenant are counted', async () => {
    const rig = rigFor();
    await rig.leaseUser(own, createHolder(ann));
    await rig.leaseUser(own, createHolder(eve));
    await rig.leaseUser(own, createHolder(key('evil', 'mia')));
    expect(rig.describeAll([own])).toMatchObject([{ users: 1, open: { user: 1 }, inFlight: { own: 1 } }]);
    expect(JSON.stringify(rig.describeAll())).not.toMatch(/ann|eve|mia|grant/);
    // Not even one whose name begins like it.
    for (const [tenant, found] of [
      ['acme', true],
      ['acm', false],
      ['acme"', false],
      ['', false],
      ['evil', false],
    ] as const) {
      expect([tenant, isOfTenant(ann, tenant)]).toEqual([tenant, found]);
    }
  });

  test('what keeps no session is nobody’s in particular', async () => {
    const rig = rigFor();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
    await rig.leaseUser(own, createHolder(eve));
    expect(rig.describeAll([own])).toMatchObject([
      { users: 0, open: { user: 0, stateless: 1 }, inFlight: { own: 0, common: 1 } },
    ]);
  });

  test('nor is anything told of what fails for users of another one', async () => {
    const rig = rigFor();
    rig.onOpen = (pendingOpen) => pendingOpen.fail('unauthorized');
    for (let i = 0; i < 3; i += 1) await expect(rig.leaseUser(own, createHolder(eve))).rejects.toThrow();
    const process = createUserServer('process');
    rig.onOpen = (pendingOpen) => pendingOpen.fail('connect_timeout');
    const child = createHolder(eve, { target: stdioTarget });
    for (let i = 0; i < 3; i += 1) await expect(rig.leaseUser(process, child)).rejects.toThrow();
    expect(rig.manager.counts().breakersOpen).toBe(2);
    for (const description of rig.describeAll([own, process])) {
      expect(description).toMatchObject({ breakersOpen: 0 });
      expect(['code', 'since', 'retryAt'].filter((name) => name in description)).toEqual([]);
    }
    const theirs = rig.manager.describe([own, process], (principal) => isOfTenant(principal, 'evil'));
    expect(theirs).toMatchObject([{ breakersOpen: 1 }, { breakersOpen: 1 }]);
  });

  test('what failed last is told, and since when', async () => {
    const rig = rigFor();
    const startedAt = rig.clock.now();
    rig.onOpen = (pendingOpen) => pendingOpen.fail('wrong_url');
    await expect(rig.leaseUser(own, createHolder(ann))).rejects.toThrow();
    expect(rig.describeAll([own])).toMatchObject([
      { code: 'MCP_PROTOCOL_ERROR', since: startedAt, breakersOpen: 0 },
    ]);
    await rig.clock.advance(1_000);
    rig.onOpen = (pendingOpen) => pendingOpen.fail('connect_timeout');
    for (let i = 0; i < 3; i += 1) await expect(rig.leaseUser(own, createHolder(amy))).rejects.toThrow();
    await rig.clock.advance(1_000);
    expect(rig.describeAll([own])).toMatchObject([
      { code: 'MCP_TIMEOUT', since: startedAt, breakersOpen: 1, retryAt: startedAt + 31_000 },
    ]);
  });

  test('a shared server that is connected has no failure of before', async () => {
    const rig = rigFor();
    (await rig.leaseShared(app)).release();
    rig.onOpen = (pendingOpen) => pendingOpen.fail('wrong_url');
    await expect(rig.leaseShared(app, { forceNew: true })).rejects.toThrow();
    const [description] = rig.describeAll([app]);
    expect(description).toMatchObject({ state: 'connected', breakersOpen: 0 });
    expect(description).not.toHaveProperty('code');
    for (const upstream of rig.upstreams) upstream.dropConnection();
    expect(rig.describeAll([app])).toMatchObject([{ state: 'error', code: 'MCP_PROTOCOL_ERROR' }]);
  });
});
