import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  createAppServer,
  createConnectionsRig,
  createHolder,
  createRemoteTarget,
  waitForImmediate,
  createUserServer,
  type ConnectionsRig,
  type FakeUpstream,
} from '../../test/connectionsRig.ts';
import type { Lease } from './lease.ts';
import { UpstreamError, type UpstreamReason } from '../upstream/upstreamError.ts';

const PER_PRINCIPAL = 2;
const TOTAL = 3;

const lease = fc.record({
  do: fc.constant('lease' as const),
  who: fc.constantFrom('ann', 'bob', 'eve'),
  // Two that keep sessions, one that keeps none, one that serves single requests, one that everybody shares.
  server: fc.constantFrom('legacy', 'other', 'modern', 'request', 'app'),
  binding: fc.constantFrom('x', 'y'),
  forceNew: fc.nat(3).map((chance) => chance === 0),
});
const step = fc.oneof(
  { weight: 5, arbitrary: lease },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('land' as const), pendingOpen: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refuse' as const), pendingOpen: fc.nat(3) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('release' as const),
      lease: fc.nat(5),
      failure: fc.constantFrom<(UpstreamReason | undefined)[]>(
        undefined,
        undefined,
        'timeout',
        'session_lost',
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), caller: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const), upstream: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('update' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('drop' as const), who: fc.constantFrom('ann', 'bob') }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(2_000, 100_000) }),
  },
);

interface Caller {
  readonly controller: AbortController;
  readonly who: string;
  readonly server: string;
  readonly revision: string;
  readonly binding: string;
  readonly request: string;
  state: 'waits' | 'holds' | 'over';
  lease?: Lease;
}

/** What the caller said of itself, as far as it shows in where the connection leads. */
const path = ({ server, revision }: Pick<Caller, 'server' | 'revision'>) =>
  `https://one.example/${server}/${revision}`;

function requestLease(rig: ConnectionsRig, caller: Caller, forceNew: boolean): Promise<Lease> {
  const { who, server, revision, binding, request: requestKey } = caller;
  const options = { signal: caller.controller.signal, forceNew };
  if (server === 'app')
    return rig.leaseShared(createAppServer('app', revision, createRemoteTarget(path(caller))), options);
  const target = createRemoteTarget(path(caller), {
    headers: { authorization: JSON.stringify([who, binding, requestKey]) },
  });
  const definition = createUserServer(server, revision, { requestScoped: server === 'request' });
  return rig.leaseUser(definition, createHolder(who, { target, binding, requestKey }), options);
}

const headersOf = ({ target }: FakeUpstream) => (target.type === 'stdio' ? {} : target.headers);

describe('connections against a model', () => {
  test('in any order of events nobody gets another’s session, no borrowed one is closed, and each is closed once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 60 }), async (steps) => {
        const rig = createConnectionsRig({
          maxPerPrincipal: PER_PRINCIPAL,
          maxTotal: TOTAL,
          idleTimeoutMs: 60_000,
        });
        const callers: Caller[] = [];
        let revision = 1;
        let requests = 0;
        const announce = () =>
          rig.manager.update([
            createAppServer('app', String(revision)),
            ...['legacy', 'other', 'modern', 'request'].map((id) => createUserServer(id, String(revision))),
          ]);
        announce();
        const pending = () => rig.pendingOpens.filter(({ isSettled }) => !isSettled);
        const eraOf = (url: string) => (url.includes('/modern/') ? 'modern' : 'legacy');
        const holding = () => callers.filter(({ state }) => state === 'holds');

        const check = () => {
          for (const caller of holding()) {
            const upstream = caller.lease!.upstream as FakeUpstream;
            expect(upstream.closeCount).toBe(0);
            expect(upstream.target).toMatchObject({ url: path(caller) });
            if (caller.server === 'app') {
              expect([upstream.owner, headersOf(upstream)]).toEqual([undefined, {}]);
            } else if (upstream.claims.era === 'legacy') {
              expect(upstream.owner).toBe(caller.who);
              const [who, binding, request] = JSON.parse(headersOf(upstream).authorization!) as string[];
              expect([who, binding]).toEqual([caller.who, caller.binding]);
              if (caller.server === 'request') expect(request).toBe(caller.request);
            }
          }
          const sessions = rig.upstreams.filter(
            ({ closeCount, owner, claims }) =>
              closeCount === 0 && owner !== undefined && claims.era === 'legacy',
          );
          const places = [
            ...sessions.map(({ owner }) => owner),
            ...pending().flatMap(({ options }) => options.owner ?? []),
          ];
          expect(places.length).toBeLessThanOrEqual(TOTAL);
          for (const who of ['ann', 'bob', 'eve']) {
            expect(places.filter((owner) => owner === who).length).toBeLessThanOrEqual(PER_PRINCIPAL);
          }
          for (const { closeCount } of rig.upstreams) expect(closeCount).toBeLessThanOrEqual(1);
          const counts = rig.manager.counts();
          expect(counts.user).toBe(sessions.length);
          expect(counts.shared).toBeLessThanOrEqual(1);
          expect(counts.stateless).toBeLessThanOrEqual(1);
        };

        for (const action of steps) {
          switch (action.do) {
            case 'lease': {
              requests += 1;
              const caller: Caller = {
                ...action,
                controller: new AbortController(),
                revision: String(revision),
                // Every other one belongs to the request of its predecessor.
                request: `r${Math.floor(requests / 2)}`,
                state: 'waits',
              };
              callers.push(caller);
              requestLease(rig, caller, action.forceNew).then(
                (held) => {
                  caller.lease = held;
                  caller.state = 'holds';
                },
                () => (caller.state = 'over'),
              );
              break;
            }
            case 'land': {
              const pendingOpen = pending()[action.pendingOpen];
              pendingOpen?.complete(eraOf(pendingOpen.target.type === 'stdio' ? '' : pendingOpen.target.url));
              break;
            }
            case 'refuse':
              pending()[action.pendingOpen]?.fail('invalid_response');
              break;
            case 'release': {
              const caller = holding()[action.lease];
              if (!caller) break;
              caller.state = 'over';
              const failure = action.failure && new UpstreamError(action.failure);
              caller.lease!.release(failure);
              // A second time changes nothing.
              caller.lease!.release(failure);
              break;
            }
            case 'leave':
              callers.filter(({ state }) => state === 'waits')[action.caller]?.controller.abort();
              break;
            case 'lose':
              rig.upstreams.filter(({ closeCount }) => closeCount === 0)[action.upstream]?.dropConnection();
              break;
            case 'update':
              revision += 1;
              announce();
              break;
            case 'drop':
              void rig.manager.dropForPrincipal(action.who);
              break;
            case 'wait':
              await rig.clock.advance(action.ms);
              break;
          }
          await waitForImmediate();
          check();
        }

        for (const { state, lease: held } of callers) if (state === 'holds') held!.release();
        const closing = rig.manager.close();
        for (const pendingOpen of pending()) pendingOpen.complete();
        await closing;
        expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual(rig.upstreams.map(() => 1));
        expect(callers.filter(({ state }) => state === 'waits')).toEqual([]);
        expect(rig.manager.counts()).toEqual({ shared: 0, user: 0, stateless: 0, breakersOpen: 0 });
      }),
      { numRuns: 150 },
    );
  }, 60_000);
});
