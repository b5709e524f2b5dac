import { createSignInSessions } from '@behalf/gateway';
import type { PrimaryStore, SessionRecord, SessionStore } from '@behalf/gateway/ports';
import { systemClock as clock, systemRandom as random } from '@behalf/kernel';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';
import { aUser } from './accounts.ts';

/** Interleaved operations of two replicas: each test runs one in the middle of the other. */
export function signOutsSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`sign-outs on ${label}`, () => {
    const opened = useStore(open);

    /** `meanwhile` runs after the session was looked up and before it is removed. */
    async function createRig() {
      const store = opened();
      const user = aUser();
      await store.users.insert(user);
      /** The sessions with tokens at the identity provider. */
      const tokens = new Set<string>();
      let interleaved: (() => Promise<void>) | null = null;
      const runInterleaved = async () => {
        const pendingWork = interleaved;
        interleaved = null;
        await pendingWork?.();
      };
      const sessionStore: SessionStore = {
        ...store.sessions,
        async remove(hash) {
          await runInterleaved();
          return store.sessions.remove(hash);
        },
        async removeByUser(userId) {
          await runInterleaved();
          return store.sessions.removeByUser(userId);
        },
      };
      const sessions = createSignInSessions({
        ...{ ...store, sessions: sessionStore, clock, random },
        endTokens: async ({ label: session }) => tokens.delete(session),
      });
      const signedIn = await sessions.start(user, { via: 'openid', groups: [] });
      tokens.add(signedIn.hash);
      /** In the order of the identity provider's callback: first the tokens, then the session. */
      async function grant(hash: string, afterTokens = async () => undefined as unknown): Promise<void> {
        tokens.add(hash);
        await afterTokens();
        const expiresAt = clock.now() + 60_000;
        await sessions.grant(user, {
          ...{ hash, expiresAt, groups: [], grant: { clientId: 'c', from: signedIn.hash } },
        });
      }
      return {
        ...{ user, sessions, signedIn, tokens, grant },
        remaining: async () => (await sessions.list(user.id)).map(({ hash }: SessionRecord) => hash),
        interleave: (work: () => Promise<void>) => void (interleaved = work),
      };
    }
    type Rig = Awaited<ReturnType<typeof createRig>>;
    const signOutVariants: [name: string, signOut: (rig: Rig) => Promise<unknown>][] = [
      ['of one session', ({ sessions, signedIn }) => sessions.end(signedIn.secret)],
      ['everywhere', ({ sessions, user }) => sessions.endAll(user)],
    ];

    for (const [name, signOut] of signOutVariants) {
      test(`${name}: what is granted after it comes to nothing`, async () => {
        const rig = await createRig();
        await expect(rig.grant('late', () => signOut(rig))).rejects.toMatchObject({
          code: 'AUTH_REQUIRED',
        });
        expect([await rig.remaining(), [...rig.tokens]]).toEqual([[], []]);
      });

      test(`${name}: what is granted while it runs has nothing to exchange`, async () => {
        const rig = await createRig();
        await rig.grant('before');
        rig.interleave(() => rig.grant('meanwhile'));
        await signOut(rig);
        expect([...rig.tokens]).toEqual([]);
        expect(await rig.remaining()).not.toContain(rig.signedIn.hash);
        if (name === 'everywhere') expect(await rig.remaining()).toEqual([]);
      });
    }

    test('what nobody signed in for is granted without a look', async () => {
      const { sessions, user } = await createRig();
      const granted = { groups: [], expiresAt: clock.now() + 60_000, grant: { clientId: 'c', from: '' } };
      await sessions.grant(user, { hash: 'by-assertion', ...granted });
      expect(await sessions.find('by-assertion')).not.toBeNull();
    });
  });
}
