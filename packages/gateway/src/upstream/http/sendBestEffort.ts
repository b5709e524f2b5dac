import type { Clock, Send, SendResponse, SendRequest } from '@behalf/kernel';
import { sendWithCredential } from '../bearerHeaders.ts';
import type { Bearer } from '../target.ts';

/**
 * Sends something whose outcome nobody waits for or needs. It takes at most `limitMs`, and never fails. It is over when
 * the exchange is, not with the head of the answer: who counts these counts sockets. Without a token from the bearer it
 * is not sent.
 */
export async function sendBestEffort(
  { send, clock }: { readonly send: Send; readonly clock: Clock },
  request: Omit<SendRequest, 'signal'>,
  timeoutMs: number,
  bearer: Bearer | undefined,
): Promise<void> {
  const abortController = new AbortController();
  let onTimeout: () => void = () => undefined;
  const timeout = new Promise<void>((resolve) => (onTimeout = resolve));
  const cancelTimer = clock.timer(timeoutMs, () => {
    abortController.abort();
    onTimeout();
  });
  async function post(): Promise<SendResponse> {
    const { signal } = abortController;
    signal.throwIfAborted();
    return sendWithCredential(send, { ...request, signal }, bearer);
  }
  const sent = post().then(
    (reply) => reply.discard(),
    () => undefined,
  );
  // A door that does not heed the signal holds nobody up either.
  await Promise.race([sent, timeout]);
  cancelTimer();
}
