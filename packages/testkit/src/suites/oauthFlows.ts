import {
  type OAuthClientRecord,
  type OAuthFlowRecord,
  type PrimaryStore,
  oauthClientId,
} from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { type OpenStore, useStore } from './useStore.ts';

/** In the future, because MongoDB removes expired documents itself. */
const NOW = 4_000_000_000_000;

export function aFlow(overrides: Partial<OAuthFlowRecord> = {}): OAuthFlowRecord {
  return {
    id: 'f1',
    tenant: 'default',
    userId: 'u1',
    serverId: 's1',
    stateHash: null,
    browserHash: null,
    status: 'created',
    error: null,
    sealed: 'v1.sealed',
    createdAt: NOW,
    expiresAt: NOW + 600_000,
    removeAt: NOW + 900_000,
    ...overrides,
  };
}

const limits = { perUser: 5, perTenant: 200 };

export function oauthFlowsSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`OAuthFlowStore on ${label}`, () => {
    const store = useStore(open);
    const insert = (overrides: Partial<OAuthFlowRecord> = {}, now = NOW) =>
      store().oauthFlows.insert(aFlow(overrides), limits, now);

    test('a flow is read back by its id, by its state, and by whose it is while it is pending', async () => {
      const { oauthFlows } = store();
      const flow = aFlow({ stateHash: 'state', browserHash: 'browser', sealed: 'v1."$&" 李' });
      expect(await oauthFlows.insert(flow, limits, NOW)).toEqual({ kind: 'inserted' });
      expect(await oauthFlows.find('f1')).toEqual(flow);
      expect(await oauthFlows.find('f2')).toBeNull();
      expect(await oauthFlows.findByState('state')).toEqual(flow);
      expect(await oauthFlows.findByState('other')).toBeNull();
      expect(await oauthFlows.findPending('default', 'u1', 's1', NOW)).toEqual(flow);
      for (const [tenant, userId, serverId] of [
        ['other', 'u1', 's1'],
        ['default', 'u2', 's1'],
        ['default', 'u1', 's2'],
      ] as const) {
        expect(await oauthFlows.findPending(tenant, userId, serverId, NOW)).toBeNull();
      }
      expect(await oauthFlows.findPending('default', 'u1', 's1', flow.expiresAt)).toBeNull();
    });

    test('of 10 that start at once one is made and the others join it, until it ends or runs out of time', async () => {
      const { oauthFlows } = store();
      const started = await Promise.all(Array.from({ length: 10 }, (_, i) => insert({ id: `f${i}` })));
      const insertedIndex = started.findIndex(({ kind }) => kind === 'inserted');
      const joined = started.filter((_, i) => i !== insertedIndex);
      expect(joined).toEqual(
        joined.map(() => ({ kind: 'pending', flow: aFlow({ id: `f${insertedIndex}` }) })),
      );
      // The limit applies per tenant, user and server.
      for (const other of [{ tenant: 'other' }, { userId: 'u2' }, { serverId: 's2' }])
        expect(await insert({ id: JSON.stringify(other), ...other })).toEqual({ kind: 'inserted' });
      for (const status of ['approved', 'failed', 'cancelled'] as const) {
        const pending = await oauthFlows.findPending('default', 'u1', 's1', NOW);
        await oauthFlows.transition(pending!.id, { status: ['created'] }, { status });
        expect(await insert({ id: `after ${status}` })).toEqual({ kind: 'inserted' });
      }
      const later = NOW + 600_000;
      const nextFlow = { id: 'next', expiresAt: later + 600_000 };
      expect(await insert(nextFlow, later - 1)).toMatchObject({ kind: 'pending' });
      expect(await insert(nextFlow, later)).toEqual({ kind: 'inserted' });
      expect((await oauthFlows.findPending('default', 'u1', 's1', later))?.id).toBe('next');
    });

    test('a user and a tenant have so many pending at a time, also when more are started at once', async () => {
      const { oauthFlows } = store();
      for (let i = 0; i < 5; i += 1)
        expect(await insert({ id: `f${i}`, serverId: `s${i}`, expiresAt: NOW + 600_000 - i })).toEqual({
          kind: 'inserted',
        });
      const refusal = { kind: 'too_many', retryAt: NOW + 600_000 - 4 };
      expect(await insert({ id: 'f5', serverId: 's5' })).toEqual(refusal);
      expect(await oauthFlows.getRetryAt('default', 'u1', limits, NOW)).toBe(refusal.retryAt);
      expect(await oauthFlows.getRetryAt('default', 'u2', limits, NOW)).toBeNull();
      expect(await oauthFlows.getRetryAt('default', 'u2', { ...limits, perTenant: 5 }, NOW)).toBe(
        refusal.retryAt,
      );
      expect(await oauthFlows.getRetryAt('other', 'u1', { ...limits, perTenant: 5 }, NOW)).toBeNull();
      expect(await oauthFlows.getRetryAt('default', 'u1', limits, NOW + 600_000)).toBeNull();
      expect(await oauthFlows.find('f5')).toBeNull();
      expect(await insert({ id: 'again', serverId: 's1' })).toMatchObject({ kind: 'pending' });
      expect(await insert({ id: 'of another', userId: 'u2' })).toEqual({ kind: 'inserted' });
      await oauthFlows.transition('f0', { status: ['created'] }, { status: 'cancelled' });
      expect(await insert({ id: 'f5', serverId: 's5' })).toEqual({ kind: 'inserted' });
      const lowLimits = { perUser: 5, perTenant: 7 };
      const started = await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          oauthFlows.insert(aFlow({ id: `t${i}`, userId: `many${i}` }), lowLimits, NOW),
        ),
      );
      const insertedCount = started.filter(({ kind }) => kind === 'inserted').length;
      expect(insertedCount).toBeLessThanOrEqual(1);
      const tenant = { perUser: 5, perTenant: 6 + insertedCount };
      expect(await oauthFlows.insert(aFlow({ id: 'last', userId: 'u9' }), tenant, NOW)).toMatchObject({
        kind: 'too_many',
      });
      const others = await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          oauthFlows.insert(aFlow({ id: `m${i}`, userId: 'u3', serverId: `m${i}` }), limits, NOW),
        ),
      );
      expect(others.filter(({ kind }) => kind === 'inserted').length).toBeLessThanOrEqual(5);
      for (const [i, { kind }] of others.entries())
        expect((await oauthFlows.find(`m${i}`)) !== null).toBe(kind === 'inserted');
    });

    test('a flow moves on where status, state, browser, user and time are as the mover says; of 10 movers one', async () => {
      const { oauthFlows } = store();
      await insert();
      const redirected = { status: 'opened', stateHash: 'state', browserHash: 'browser' } as const;
      const opened = await oauthFlows.transition('f1', { status: ['created', 'opened'] }, redirected);
      expect(opened).toEqual(aFlow(redirected));
      const condition = {
        status: ['opened'],
        stateHash: 'state',
        browserHash: 'browser',
        userId: 'u1',
      } as const;
      for (const other of [
        { status: ['created'] },
        { stateHash: 'other' },
        { browserHash: 'other' },
        { userId: 'u2' },
        { now: NOW + 600_000 },
      ] as const) {
        expect(
          await oauthFlows.transition('f1', { ...condition, ...other }, { status: 'exchanging' }),
        ).toBeNull();
      }
      expect(await oauthFlows.find('f1')).toEqual(opened);
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, () =>
          oauthFlows.transition('f1', { ...condition, now: NOW }, {
            status: 'exchanging',
            userId: 'u2',
          } as object),
        ),
      );
      expect(outcomes.filter((flow) => flow !== null)).toEqual([
        aFlow({ ...redirected, status: 'exchanging' }),
      ]);
      expect((await oauthFlows.findPending('default', 'u1', 's1', NOW))?.status).toBe('exchanging');
      const failed = { status: 'failed', error: 'access_denied', stateHash: null, sealed: 'v1.x' } as const;
      await oauthFlows.transition('f1', { status: ['exchanging'] }, { ...failed, expiresAt: NOW + 1 });
      expect(await oauthFlows.find('f1')).toEqual(
        aFlow({ ...failed, browserHash: 'browser', expiresAt: NOW + 1 }),
      );
      expect(await oauthFlows.findByState('state')).toBeNull();
      expect(await oauthFlows.transition('nobody', { status: ['created'] }, { status: 'failed' })).toBeNull();
    });

    test('flows go with their user, and when nobody asks any more', async () => {
      const { oauthFlows } = store();
      await insert();
      await insert({ id: 'f2', serverId: 's2', removeAt: NOW + 1 });
      await insert({ id: 'f3', userId: 'u2' });
      await insert({ id: 'f4', tenant: 'other' });
      const exists = async () =>
        (await Promise.all(['f1', 'f2', 'f3', 'f4'].map((id) => oauthFlows.find(id)))).flatMap(
          (flow) => flow?.id ?? [],
        );
      expect(await oauthFlows.removeExpired(NOW)).toBe(0);
      expect(await oauthFlows.removeExpired(NOW + 1)).toBe(1);
      expect(await exists()).toEqual(['f1', 'f3', 'f4']);
      expect(await oauthFlows.removeByUser('default', 'u1', 's2')).toBe(0);
      expect(await oauthFlows.removeByUser('default', 'u1', 's1')).toBe(1);
      await insert();
      await insert({ id: 'f2', serverId: 's2' });
      expect(await oauthFlows.removeByUser('default', 'u1')).toBe(2);
      expect(await exists()).toEqual(['f3', 'f4']);
    });
  });
}

export function anOAuthClient(overrides: Partial<Omit<OAuthClientRecord, 'id'>> = {}): OAuthClientRecord {
  const record = {
    tenant: 'default',
    serverId: 's1',
    issuer: 'https://as.example.com',
    redirectUri: 'https://behalf.example.com/callback',
    clientId: 'registered',
    sealed: 'v1.sealed',
    createdAt: 1_000,
    expiresAt: null,
    ...overrides,
  };
  return { id: oauthClientId(record), ...record };
}

export function oauthClientsSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`OAuthClientStore on ${label}`, () => {
    const store = useStore(open);

    test('of 20 that register at once the first counts, and all of them are told so', async () => {
      const { oauthClients, raw } = store();
      const counted = await Promise.all(
        Array.from({ length: 20 }, (_, i) => oauthClients.insert(anOAuthClient({ clientId: `c${i}` }))),
      );
      expect(new Set(counted.map(({ clientId }) => clientId)).size).toBe(1);
      expect(await raw.page('oauthClients', null, 100)).toEqual([counted[0]]);
      expect(await oauthClients.find(anOAuthClient())).toEqual(counted[0]);
      for (const other of [
        { tenant: 'other' },
        { serverId: 's2' },
        { issuer: 'https://as.example.com/' },
        { redirectUri: 'https://other.example.com/callback' },
      ]) {
        expect(await oauthClients.find(anOAuthClient(other))).toBeNull();
      }
    });

    test('a registration takes the place of the one that was seen, and of no other', async () => {
      const { oauthClients } = store();
      const replacement = anOAuthClient({
        clientId: 'anew',
        sealed: 'v1.anew',
        createdAt: 2_000,
        expiresAt: 9_000,
      });
      expect(await oauthClients.replace(replacement, 'registered')).toBe(false);
      expect(await oauthClients.find(replacement)).toBeNull();
      await oauthClients.insert(anOAuthClient());
      const other = await oauthClients.insert(anOAuthClient({ serverId: 's2' }));
      expect(await oauthClients.replace(replacement, 'another')).toBe(false);
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          oauthClients.replace({ ...replacement, clientId: `anew${i}` }, 'registered'),
        ),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      const stored = { ...replacement, clientId: `anew${outcomes.indexOf(true)}` };
      expect(await oauthClients.find(replacement)).toEqual(stored);
      expect(await oauthClients.find(other)).toEqual(other);
    });

    test('a registration is removed only as the one that was seen, or with its server', async () => {
      const { oauthClients } = store();
      const client = anOAuthClient({ expiresAt: 9_000 });
      expect(await oauthClients.insert(client)).toEqual(client);
      expect(await oauthClients.remove(client, 'another')).toBe(false);
      expect(await oauthClients.find(client)).toEqual(client);
      expect(await oauthClients.remove(client, 'registered')).toBe(true);
      expect(await oauthClients.remove(client, 'registered')).toBe(false);
      const replacement = anOAuthClient({ clientId: 'anew' });
      expect(await oauthClients.insert(replacement)).toEqual(replacement);
      const remaining = await oauthClients.insert(anOAuthClient({ tenant: 'other' }));
      await oauthClients.insert(anOAuthClient({ issuer: 'https://other.example.com' }));
      expect(await oauthClients.removeByServer('default', 's2')).toBe(0);
      expect(await oauthClients.removeByServer('default', 's1')).toBe(2);
      expect(await oauthClients.find(replacement)).toBeNull();
      expect(await oauthClients.find(remaining)).toEqual(remaining);
    });
  });
}
