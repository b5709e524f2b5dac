import { GatewayError, type JsonObject } from '@behalf/gateway';
import type { Cache } from '@behalf/gateway/ports';
import { abortReason, LightCancellation, type Cancel, type Clock, type Random } from '@behalf/kernel';
import type { Asked } from '../asked.ts';
import { mcpInbound } from '../mcpInbound.ts';
import { RpcFault } from '../rpcFault.ts';
import type { Mailbox, Place } from '../session/mailbox.ts';
import type { ParkedCall } from './parkedCall.ts';
import { createSaying, hearSaying, type Said } from './saying.ts';

export interface ElsewhereParts {
  readonly cache: Cache;
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly clock: Clock;
  readonly random: Random;
  /** What a client is told of an error. */
  readonly faultOf: (error: unknown, asked: Asked) => RpcFault;
}

/** The replica where a call waits says that it works on it, so that the other one does not wait for a dead one. */
const BEAT_MS = 5_000;
const ALIVE_MS = 20_000;
/** A result is a word like any other, and the store is everybody's. */
const LONGEST_WORD = 8 * 1024 * 1024;

interface Retry {
  readonly attempt: string;
  readonly responses: JsonObject;
  readonly capabilities: JsonObject;
  /** Whether the client wants to hear what the server says besides. */
  readonly hears: boolean;
}

interface Told {
  readonly text?: string;
  readonly said?: Said;
  readonly fault?: Pick<RpcFault, 'code' | 'message' | 'status'> & { readonly data?: JsonObject };
}

/** The answers came to us and the call waits at another replica: they go there, and what it gives comes back. */
export function attendElsewhere(
  { cache, mailbox, clock, random }: ElsewhereParts,
  place: Place,
  asked: Asked,
  round: number,
  responses: JsonObject,
): Promise<string> {
  const { signal, capabilities } = asked;
  const attempt = random.id();
  const { onProgress, onLog } = mcpInbound(asked, attempt);
  const hears = onProgress !== undefined || onLog !== undefined;
  const tell = ({ progress, logs }: Said) => {
    for (const log of logs) onLog?.(log);
    if (progress) onProgress?.(progress);
  };
  return new Promise((resolve, reject) => {
    const unhearSaid = hears ? hearSaying({ mailbox }, place, attempt, tell) : () => undefined;
    let cancel: Cancel = () => undefined;
    const end = () => {
      unhear();
      unhearSaid();
      cancel();
      signal.removeEventListener('abort', leave);
    };
    const lost = () => {
      end();
      // It was answered, and whether the server ran it nobody here knows.
      reject(
        new GatewayError('MCP_OUTCOME_UNCERTAIN', { detail: 'The replica that held this call is gone.' }),
      );
    };
    const leave = () => {
      end();
      mailbox.post(place, `left:${attempt}`, 'left').catch(() => undefined);
      reject(abortReason(signal));
    };
    const watch = (ms: number) => {
      cancel = clock.timer(ms, () => {
        cache.get(aliveOf(attempt)).then(
          (alive) => (alive === undefined ? lost() : watch(BEAT_MS)),
          () => watch(BEAT_MS),
        );
      });
    };
    const unhear = mailbox.wait(
      place,
      `told:${attempt}`,
      (word) => {
        end();
        const { text, said, fault } = JSON.parse(word) as Told;
        if (said) tell(said);
        if (text !== undefined) resolve(text);
        else reject(new RpcFault(fault?.code ?? 0, fault?.message ?? '', fault));
      },
      { poll: true },
    );
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave);
    const retry: Retry = { attempt, responses, capabilities, hears };
    mailbox.post(place, `retry:${round}`, JSON.stringify(retry)).then(
      () => watch(ALIVE_MS / 2),
      () => lost(),
    );
  });
}

/** The other end of it: a client that is at another replica waits for the call that is here. */
export async function serveElsewhere(
  { cache, mailbox, clock, faultOf }: ElsewhereParts,
  place: Place,
  { call, asked }: { readonly call: ParkedCall; readonly asked: Asked },
  word: string,
): Promise<void> {
  const { attempt, responses, capabilities, hears } = JSON.parse(word) as Retry;
  const saying = hears ? createSaying({ mailbox, clock }, place, attempt) : undefined;
  const signal = new LightCancellation();
  let over = false;
  let cancel: Cancel = () => undefined;
  const beat = () => {
    if (over) return;
    cache.set(aliveOf(attempt), '1', ALIVE_MS).catch(() => undefined);
    cancel = clock.timer(BEAT_MS, beat);
  };
  beat();
  const unhear = mailbox.wait(
    place,
    `left:${attempt}`,
    () => signal.abort(new DOMException('The client left', 'AbortError')),
    { poll: true },
  );
  call.answer(responses);
  let told: Told;
  try {
    told = { text: await call.attend({ signal, capabilities, ...saying }) };
  } catch (error) {
    told = { fault: toldOf(faultOf(error, asked)) };
  }
  const said = saying?.rest();
  if (said) told = { ...told, said };
  try {
    if (!signal.aborted)
      await mailbox.post(
        place,
        `told:${attempt}`,
        fitting(told, (error) => faultOf(error, asked)),
      );
  } catch {
    // The store does not answer: who waits finds nobody alive.
  } finally {
    over = true;
    cancel();
    unhear();
  }
}

function fitting(told: Told, faultOf: (error: unknown) => RpcFault): string {
  const word = JSON.stringify(told);
  if (word.length <= LONGEST_WORD) return word;
  return JSON.stringify({ fault: toldOf(faultOf(new GatewayError('MCP_RESPONSE_TOO_LARGE'))) });
}

/** All that an answer is made of. The message of an error is not among what JSON takes by itself. */
function toldOf({ code, message, data, status }: RpcFault): NonNullable<Told['fault']> {
  return { code, message, status, ...(data && { data }) };
}

function aliveOf(attempt: string): string {
  return `alive:${attempt}`;
}
