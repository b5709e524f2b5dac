import type { UserPrincipal } from '@behalf/gateway';
import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import type { Running } from './running.ts';
import { untilWord } from './untilWord.ts';

export interface SignInParts {
  readonly cache: Cache;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly clock: Clock;
}

/** `declined`: the answer shall go on without. */
export type SignInWord = 'connected' | 'declined' | 'expired';

/** Calls of a chat that wait until their user has signed in at a server, which may be told at another replica. */
export interface SignIns {
  /** `ask` asks for it, once the word can be given. Rejects with the reason of the answer's signal. */
  wait(running: Running, callId: string, expiresAt: number, ask: () => Promise<void>): Promise<SignInWord>;
  /** False where no such call of this user waits. The word opens nothing: the call is made as if for the first time. */
  tell(
    caller: UserPrincipal,
    conversationId: string,
    callId: string,
    word: 'connected' | 'declined',
  ): Promise<boolean>;
}

export function createSignIns({ cache, changes, clock }: SignInParts): SignIns {
  return {
    async wait(running, callId, expiresAt, ask) {
      const { owner, conversationId = '' } = running;
      const key = callKey(owner, conversationId, callId);
      try {
        await cache.set(key, 'waiting', Math.max(1, expiresAt - clock.now()));
        await ask();
        return await untilWord(running, clock, async () => {
          // A store that does not answer has not said that it is over.
          const said = await cache.get(key).catch(() => 'waiting');
          if (said === 'connected' || said === 'declined') return said;
          return said === undefined || clock.now() >= expiresAt ? 'expired' : undefined;
        });
      } finally {
        await cache.delete(key).catch(() => undefined);
      }
    },
    async tell(caller, conversationId, callId, word) {
      const key = callKey(caller, conversationId, callId);
      if ((await cache.get(key)) === undefined) return false;
      await cache.set(key, word, WORD_MS);
      await changes.publish({ topic: 'conversations', id: conversationId });
      return true;
    },
  };
}

/** Long enough to be read by who waits; they end what nobody reads. */
const WORD_MS = 60_000;

function callKey({ tenant, userId }: UserPrincipal, conversationId: string, callId: string): string {
  return JSON.stringify(['sign-in', tenant, userId, conversationId, callId]);
}
