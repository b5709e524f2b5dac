import type { FaultBehavior } from '@behalf/devidp';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { subjectSeenByServer, type ToolCallResponse } from './oboCaller.ts';
import { startFaultRig, type FaultRig, type FreshUser } from './oboFaultsRig.ts';

interface Fault {
  readonly what: string;
  readonly behavior: FaultBehavior;
  /** Token requests of one call. */
  readonly requests: number;
  readonly status: number;
  readonly code: string;
  readonly retryAfter?: string;
  /** For how long it is remembered. */
  readonly overInMs?: number;
}

const busy = { status: 503, code: 'OBO_TEMPORARY', requests: 2, retryAfter: '2' };
const noToken = { status: 502, code: 'OBO_EMPTY_RESPONSE', requests: 1, overInMs: 2_001 };
const faults: readonly Fault[] = [
  { what: '429', behavior: { kind: 'throttle' }, ...busy, overInMs: 2_001 },
  {
    what: '429 for a second',
    behavior: { kind: 'throttle', retryAfterSeconds: 1 },
    ...{ ...busy, retryAfter: '1', overInMs: 1_001 },
  },
  {
    what: '429 for longer than anybody waits',
    behavior: { kind: 'throttle', retryAfterSeconds: 6 },
    ...{ ...busy, requests: 1, retryAfter: '6', overInMs: 6_001 },
  },
  { what: '500 without a word', behavior: { kind: 'fail' }, ...busy },
  { what: 'an empty object', behavior: { kind: 'empty' }, ...noToken },
  { what: 'a token of no characters', behavior: { kind: 'empty-token' }, ...noToken },
  { what: 'a token that is no bearer token', behavior: { kind: 'not-bearer' }, ...noToken },
  { what: 'a closed connection', behavior: { kind: 'close' }, ...busy },
  { what: 'no answer', behavior: { kind: 'hang' }, ...busy },
];

/** Of what is exchanged. The caller's own lasts. */
const TOKEN_SECONDS = 15;

/** The provider's own words: numbers, codes and descriptions. */
const PROVIDER = /AADSTS|Trace ID|Correlation|error_description|temporarily|invalid_|Too many|not one/;

for (const exchangeMethod of ['entra-secret', 'jwt-bearer'] as const) {
  describe(`a provider or a server that fails (${exchangeMethod})`, () => {
    let rig: FaultRig;
    beforeAll(async () => {
      rig = await startFaultRig(exchangeMethod, { tokenSeconds: TOKEN_SECONDS });
    }, 60_000);
    beforeEach(async () => {
      rig.resetFaults();
      // The keys of the provider are known: what is asked here is what an exchange does.
      await fetch(`${rig.url}/api/user`, { headers: { authorization: `Bearer ${rig.mintToken('ada')}` } });
    });
    afterAll(() => rig.close());

    /** What the server was shown is what was exchanged for these, and never what they came with, nor nothing. */
    function expectOwnTokens(...users: FreshUser[]): void {
      const shown = rig.mail.credentials.all();
      for (const { hash, subject, audience } of shown) {
        expect(hash).not.toBe('');
        expect(users.map(({ id }) => id)).toContain(subject);
        expect(audience).toBe('mail-api');
      }
      for (const { token } of users) expect(rig.mail.credentials.find(token)).toBeUndefined();
    }

    async function expectWorks(one: FreshUser): Promise<void> {
      expect(subjectSeenByServer(await one.call())).toBe(one.id);
    }

    function summarizeError({ status, body, retryAfter }: ToolCallResponse) {
      return { status, code: body.code, retryAfter: retryAfter ?? undefined };
    }

    for (const { what, behavior, requests, status, code, retryAfter, overInMs = 0 } of faults) {
      test(`${what}: ${requests} at most, and ${code}`, async () => {
        const { idp, mail } = rig;
        const [one, other] = [rig.createUser(), rig.createUser()];
        rig.setShortTimeouts(behavior.kind === 'hang');
        idp.switches.set(behavior, { user: one.id });
        const answer = await one.call();
        expect(summarizeError(answer)).toEqual({ status, code, retryAfter });
        expect(idp.requestLog.count()).toBe(requests);
        expect(JSON.stringify(answer)).not.toMatch(PROVIDER);
        expect(mail.credentials.all()).toEqual([]);
        // Nobody else is concerned, and it is over when it is over.
        rig.setShortTimeouts(false);
        await expectWorks(other);
        idp.switches.clear();
        rig.clock.advance(overInMs);
        await expectWorks(one);
        expect(idp.requestLog.count()).toBe(requests + 2);
        expectOwnTokens(one, other);
      }, 30_000);
    }

    test('nobody there: two attempts, and OBO_TEMPORARY', async () => {
      const one = rig.createUser();
      // A third would get an answer.
      const down = rig.idp.switches.set({ kind: 'down' }, { times: 2 });
      expect(summarizeError(await one.call())).toEqual({
        status: 503,
        code: 'OBO_TEMPORARY',
        retryAfter: '2',
      });
      expect(rig.idp.switches.active()).not.toContain(down);
      expect(rig.idp.requestLog.count()).toBe(0);
      expect(rig.mail.credentials.all()).toEqual([]);
      await expectWorks(one);
      expectOwnTokens(one);
    });

    test('a token for somebody else is shown once and not kept', async () => {
      const { idp, mail } = rig;
      const one = rig.createUser();
      idp.switches.set({ kind: 'other-audience', audience: 'elsewhere' }, { user: one.id });
      expect(summarizeError(await one.call())).toMatchObject({
        status: 502,
        code: 'MCP_CREDENTIAL_REJECTED',
      });
      expect(idp.requestLog.count()).toBe(2);
      const wrong = { subject: one.id, audience: 'elsewhere', useCount: 1, acceptedCount: 0 };
      expect(mail.credentials.all()).toMatchObject([wrong, wrong]);
      idp.switches.clear();
      mail.credentials.clear();
      await expectWorks(one);
      expect(idp.requestLog.count()).toBe(3);
      expectOwnTokens(one);
    });

    test('a server that refuses for ever costs two requests a call, and sees no token twice', async () => {
      const { idp, mail } = rig;
      const one = rig.createUser();
      mail.rejectTokens();
      for (const calls of [1, 2]) {
        expect(summarizeError(await one.call())).toMatchObject({
          status: 502,
          code: 'MCP_CREDENTIAL_REJECTED',
        });
        expect(idp.requestLog.count()).toBe(2 * calls);
        expect(mail.credentials.all().map(({ useCount: times }) => times)).toEqual(Array(2 * calls).fill(1));
      }
      mail.acceptTokens();
      await expectWorks(one);
      expect(idp.requestLog.count()).toBe(5);
      expectOwnTokens(one);
    });

    test('after three such calls it is left alone, by that user', async () => {
      const { idp, mail } = rig;
      const [one, other] = [rig.createUser(), rig.createUser()];
      mail.rejectTokens();
      for (let calls = 0; calls < 3; calls += 1) {
        expect(summarizeError(await one.call())).toMatchObject({
          status: 502,
          code: 'MCP_CREDENTIAL_REJECTED',
        });
      }
      mail.acceptTokens();
      for (let calls = 0; calls < 3; calls += 1) {
        expect(summarizeError(await one.call())).toEqual({
          status: 503,
          code: 'MCP_BREAKER_OPEN',
          retryAfter: '30',
        });
      }
      expect(mail.credentials.all().map(({ useCount: times }) => times)).toEqual(Array(6).fill(1));
      // One more, for the call that is not made.
      expect(idp.requestLog.count()).toBeLessThanOrEqual(7);
      await expectWorks(other);
      expectOwnTokens(one, other);
    });

    test('a retry and a forced exchange are paid from the same two', async () => {
      const { idp, mail } = rig;
      const one = rig.createUser();
      idp.switches.set({ kind: 'fail' }, { user: one.id, times: 1 });
      mail.rejectTokens(1);
      // One more token would have been enough, and is not asked for.
      expect(summarizeError(await one.call())).toMatchObject({
        status: 502,
        code: 'MCP_CREDENTIAL_REJECTED',
      });
      expect(idp.requestLog.count()).toBe(2);
      expect(mail.credentials.all()).toMatchObject([{ subject: one.id, useCount: 1 }]);
      await expectWorks(one);
      expect(idp.requestLog.count()).toBe(3);
      // The refused one was forgotten.
      expect(mail.credentials.all()).toMatchObject([{ useCount: 1 }, { subject: one.id }]);
      expectOwnTokens(one);
    });

    for (const { what, behavior, requests, status, code, overInMs = 0 } of faults) {
      test(`refused, and the provider gives ${what}: the old token is not tried again`, async () => {
        const { idp, mail } = rig;
        const one = rig.createUser();
        await expectWorks(one);
        const before = mail.credentials.all()[0]?.useCount ?? 0;
        idp.requestLog.clear();
        rig.setShortTimeouts(behavior.kind === 'hang');
        idp.switches.set(behavior, { user: one.id });
        mail.rejectTokens(1);
        expect(summarizeError(await one.call())).toMatchObject({ status, code });
        expect(idp.requestLog.count()).toBe(requests);
        expect(mail.credentials.all()).toMatchObject([{ useCount: before + 1 }]);
        rig.setShortTimeouts(false);
        idp.switches.clear();
        rig.clock.advance(overInMs);
        await expectWorks(one);
        expect(mail.credentials.all()).toMatchObject([{ useCount: before + 1 }, { subject: one.id }]);
        expect(idp.requestLog.count()).toBe(requests + 1);
        expectOwnTokens(one);
      }, 30_000);
    }

    test('a token past its end is not used for want of another', async () => {
      const { idp, mail, clock } = rig;
      const one = rig.createUser();
      await expectWorks(one);
      mail.credentials.clear();
      clock.advance(TOKEN_SECONDS * 1_000 - 1);
      idp.switches.set({ kind: 'fail' }, { user: one.id });
      expect(summarizeError(await one.call())).toMatchObject({ status: 503, code: 'OBO_TEMPORARY' });
      expect(mail.credentials.all()).toEqual([]);
      idp.switches.clear();
      await expectWorks(one);
      expectOwnTokens(one);
    });
  });
}
