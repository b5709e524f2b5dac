import type { Clock, Send, SendRequest } from '@behalf/kernel';

/**
 * Sends something whose outcome nobody waits for or needs. It takes at most `limitMs`, and never fails. It is over when
 * the exchange is, not with the head of the answer: who counts these counts sockets.
 */
export async function sendQuietly(
  { send, clock }: { readonly send: Send; readonly clock: Clock },
  request: Omit<SendRequest, 'signal'>,
  limitMs: number,
): Promise<void> {
  const over = new AbortController();
  let late: () => void = () => undefined;
  const limit = new Promise<void>((resolve) => (late = resolve));
  const cancel = clock.timer(limitMs, () => {
    over.abort();
    late();
  });
  const sent = send({ ...request, signal: over.signal }).then(
    (reply) => reply.discard(),
    () => undefined,
  );
  // A door that does not heed the signal holds nobody up either.
  await Promise.race([sent, limit]);
  cancel();
}
