import type { Clock, Send, SendReply, SendRequest } from '@behalf/kernel';
import { sendPresenting } from '../bearerHeaders.ts';
import type { Bearer } from '../target.ts';

/**
 * Sends something whose outcome nobody waits for or needs. It takes at most `limitMs`, and never fails. It is over when
 * the exchange is, not with the head of the answer: who counts these counts sockets. Without a token from the bearer it
 * is not sent.
 */
export async function sendQuietly(
  { send, clock }: { readonly send: Send; readonly clock: Clock },
  request: Omit<SendRequest, 'signal'>,
  limitMs: number,
  bearer: Bearer | undefined,
): Promise<void> {
  const over = new AbortController();
  let late: () => void = () => undefined;
  const limit = new Promise<void>((resolve) => (late = resolve));
  const cancel = clock.timer(limitMs, () => {
    over.abort();
    late();
  });
  async function post(): Promise<SendReply> {
    const { signal } = over;
    signal.throwIfAborted();
    return sendPresenting(send, { ...request, signal }, bearer);
  }
  const sent = post().then(
    (reply) => reply.discard(),
    () => undefined,
  );
  // A door that does not heed the signal holds nobody up either.
  await Promise.race([sent, limit]);
  cancel();
}
