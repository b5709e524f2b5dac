import { eventually } from '@behalf/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { subjectSeenByServer } from './oboCaller.ts';
import { startFaultRig, type FaultRig } from './oboFaultsRig.ts';
import { createTokenCaller } from './tokenCaller.ts';

interface Noted {
  readonly code?: string;
  readonly outcome: string;
  readonly server: string;
  readonly providerCode?: string;
  readonly hint?: string;
}

const demand = (claim: string, value: string) =>
  JSON.stringify({ access_token: { [claim]: { essential: true, value } } });

/** What the provider answers of its own, for each way to ask it. */
const words = {
  'entra-secret': { rejected: 'AADSTS50034', unknown: 'AADSTS500011', acr: 'AADSTS50076' },
  'jwt-bearer': { rejected: 'invalid_grant', unknown: 'invalid_target', acr: 'interaction_required' },
} as const;

for (const exchangeMethod of ['entra-secret', 'jwt-bearer'] as const) {
  describe(`who is told what of a failed exchange (${exchangeMethod})`, () => {
    let rig: FaultRig;
    beforeAll(async () => {
      const unknown =
        exchangeMethod === 'entra-secret'
          ? "{ scopes: 'api://nowhere/.default' }"
          : "{ scopes: Mail.Read, audience: 'api://nowhere' }";
      rig = await startFaultRig(exchangeMethod, {
        yaml: ({ ca, mail }) =>
          `  odd: { type: streamable-http, url: '${mail}', caFile: '${ca}', obo: ${unknown} }\n`,
      });
    }, 60_000);
    beforeEach(() => rig.resetFaults());
    afterAll(() => rig.close());

    /** The events of exchanges that ended with this code, as an administrator reads them. */
    async function noted(code: string): Promise<Noted[]> {
      const admin = createTokenCaller(rig.url, rig.mintToken('ada'));
      return eventually('the audit event', async () => {
        const answer = await admin.get(`/api/admin/audit?action=obo.exchange&code=${code}`);
        const { events } = (await answer.json()) as { events: Noted[] };
        return events.length > 0 ? events : null;
      });
    }

    test('a rejected user: 401 for who came with a token, once asked', async () => {
      const { idp, mail } = rig;
      const [one, other] = [rig.createUser(), rig.createUser()];
      rig.removeUser(one.id);
      for (let calls = 0; calls < 3; calls += 1) {
        const answer = await one.call();
        expect(answer).toMatchObject({
          status: 401,
          body: { code: 'OBO_REJECTED' },
          challenge: 'Bearer error="invalid_token"',
        });
        expect(JSON.stringify(answer)).not.toContain(words[exchangeMethod].rejected);
      }
      // What is known is not asked again. Nobody else is concerned.
      expect(idp.requestLog.count()).toBe(1);
      expect(mail.credentials.all()).toEqual([]);
      expect(subjectSeenByServer(await other.call())).toBe(other.id);
      const [event] = await noted('OBO_REJECTED');
      expect(event).toMatchObject({
        outcome: 'refused',
        server: 'mail',
        providerCode: words[exchangeMethod].rejected,
      });
    });

    test('a wrong setting: 500 for who calls, what to do for who runs it', async () => {
      const { idp, mail, logged } = rig;
      const [one, other] = [rig.createUser(), rig.createUser()];
      for (const caller of [one, other]) {
        const answer = await caller.call('odd');
        expect(answer).toMatchObject({ status: 500, body: { code: 'OBO_MISCONFIGURED' } });
        for (const word of [words[exchangeMethod].unknown, 'nowhere', 'Trace ID', 'obo.audience']) {
          expect(JSON.stringify(answer)).not.toContain(word);
        }
      }
      // It is the same for everybody until somebody puts it right.
      expect(idp.requestLog.count()).toBe(1);
      expect(mail.credentials.all()).toEqual([]);
      expect(subjectSeenByServer(await one.call('mail'))).toBe(one.id);
      const [event] = await noted('OBO_MISCONFIGURED');
      expect(event).toMatchObject({
        outcome: 'failed',
        server: 'odd',
        providerCode: words[exchangeMethod].unknown,
      });
      const said = logged.find(({ event: name }) => name === 'obo_exchange_failed');
      expect(said?.fields).toMatchObject({
        ...{ server: 'odd', code: 'OBO_MISCONFIGURED', providerCode: words[exchangeMethod].unknown },
        hint: event?.hint,
      });
      expect(event?.hint).toMatch(/obo\.(scopes|audience)|resource/);
      const answer = await createTokenCaller(rig.url, one.token).get('/api/admin/audit?action=obo.exchange');
      expect(answer.status).toBe(403);
    });

    test('what the provider wants proven is told to who came with a token', async () => {
      const { idp, mail } = rig;
      const one = rig.createUser();
      const wanted = demand('acrs', 'c1');
      idp.switches.set({ kind: 'claims', claims: wanted }, { user: one.id });
      const answer = await one.call();
      expect(answer).toMatchObject({ status: 401, body: { code: 'OBO_CONSENT_REQUIRED' } });
      expect(answer.challenge).toBe(
        `Bearer error="insufficient_claims", claims="${Buffer.from(wanted).toString('base64')}"`,
      );
      expect(JSON.stringify(answer)).not.toContain(words[exchangeMethod].acr);
      expect(mail.credentials.all()).toEqual([]);
      expect((await noted('OBO_CONSENT_REQUIRED'))[0]).toMatchObject({
        providerCode: words[exchangeMethod].acr,
      });
      // With a token that proves it, they are through.
      const proven = await rig.callAs(rig.tokenWithClaims(one.id, { acrs: ['c1'] }));
      expect(subjectSeenByServer(proven)).toBe(one.id);
      expect(idp.requestLog.count()).toBe(2);
    });

    test('what a server wants of a token goes into the exchange', async () => {
      const { idp, mail, clock } = rig;
      const one = rig.createUser();
      expect(subjectSeenByServer(await one.call())).toBe(one.id);
      // As after an event that the server has heard of: no token from before it counts.
      clock.advance(5_000);
      const wanted = demand('nbf', String(Math.floor(clock.now() / 1_000)));
      mail.requireClaims(wanted);
      expect(subjectSeenByServer(await one.call())).toBe(one.id);
      expect(idp.requestLog.count()).toBe(2);
      expect(JSON.parse(idp.requestLog.entries.at(-1)?.claims ?? '{}')).toMatchObject(
        JSON.parse(wanted) as object,
      );
      // The next ones know what is wanted.
      expect(subjectSeenByServer(await one.call())).toBe(one.id);
      expect(idp.requestLog.count()).toBe(2);
    });

    test('what no exchange can prove is told as the provider’s wish is', async () => {
      const { idp, mail } = rig;
      const one = rig.createUser();
      const wanted = demand('acrs', 'c2');
      mail.requireClaims(wanted);
      const answer = await one.call();
      expect(answer).toMatchObject({ status: 401, body: { code: 'OBO_CONSENT_REQUIRED' } });
      expect(answer.challenge).toBe(
        `Bearer error="insufficient_claims", claims="${Buffer.from(wanted).toString('base64')}"`,
      );
      expect(idp.requestLog.count()).toBe(2);
      const proven = await rig.callAs(rig.tokenWithClaims(one.id, { acrs: ['c2'] }));
      expect(subjectSeenByServer(proven)).toBe(one.id);
      expect(mail.credentials.find(one.token)).toBeUndefined();
    });
  });
}
