import type { IncomingMessage, ServerResponse } from 'node:http';
import { sleep, type Clock, type Random } from '@behalf/kernel';
import { decodeJwt } from 'jose';
import { signJwt, type KeyRing } from '../signingKeys.ts';
import { personClaims } from '../users.ts';
import { namedClient } from './clientProofs.ts';
import { meetsDemand } from './demandedClaims.ts';
import type { Dialect, Granted } from './grants.ts';
import { Refusal } from './refusal.ts';
import type { WritableLog } from './requestLog.ts';
import { audienceOf } from './resources.ts';
import type { SwitchBoard } from './switches.ts';

export interface ExchangeParts {
  keys: KeyRing;
  clock: Clock;
  random: Random;
  lifetimeSeconds: number;
  switches: SwitchBoard;
  log: WritableLog;
}

/** Answers one exchange, as the dialect says or as the switches do. */
export function createExchangeHandler(parts: ExchangeParts) {
  const { keys, clock, random, switches, log } = parts;

  function issue({ issuer, type }: Dialect, granted: Granted, audience: string) {
    const { subject, client, target, assertion } = granted;
    const now = Math.floor(clock.now() / 1000);
    const expiresIn = assertion?.lifetimeSeconds ?? target.resource.tokenSeconds ?? parts.lifetimeSeconds;
    const { name, preferred_username } = personClaims(subject.user);
    const token = signJwt(keys.current(), assertion?.type ?? type, {
      ...{ iss: issuer, sub: subject.user.id, aud: audience, azp: client.id, name, preferred_username },
      ...{ iat: now, nbf: now, exp: now + expiresIn, jti: random.id() },
      ...granted.claims,
    });
    return { token, expiresIn };
  }

  async function answer(dialect: Dialect, granted: Granted): Promise<Record<string, unknown>> {
    const { subject, target } = granted;
    const user = subject.user.id;
    const challenge = switches.take(
      ['claims'],
      user,
      ({ claims }, since) =>
        !meetsDemand(claims, subject.claims) && Number(subject.claims.iat) * 1000 <= since,
    );
    if (challenge) throw dialect.challenged(challenge.claims);
    const odd = switches.take(['empty-token', 'not-bearer', 'other-audience'], user);
    const meant = granted.assertion?.audience ?? audienceOf(target.resource);
    const audience = odd?.kind === 'other-audience' ? odd.audience : meant;
    const { token, expiresIn } = issue(dialect, granted, audience);
    return {
      ...granted.answer,
      ...{ expires_in: expiresIn, ext_expires_in: expiresIn, access_token: token },
      ...(odd?.kind === 'empty-token' && { access_token: '' }),
      ...(odd?.kind === 'not-bearer' && { token_type: 'N_A' }),
    };
  }

  return async function handle(
    dialect: Dialect,
    form: URLSearchParams,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const request = { form, headers: req.headers };
    const user = namedUser(form);
    const entry = {
      ...{ path: pathOf(req), grant: form.get('grant_type') ?? undefined },
      ...{ fields: [...new Set(form.keys())], client: namedClient(request), user },
      ...{ scope: form.get('scope') ?? undefined, claims: form.get('claims') ?? undefined },
      status: undefined as number | undefined,
    };
    // At once: one that never gets an answer was made too.
    log.add(entry);
    const reply = (status: number, body: object, headers: Readonly<Record<string, string>> = {}) => {
      entry.status = status;
      const own = { 'content-type': 'application/json', 'cache-control': 'no-store' };
      res.writeHead(status, { ...own, ...headers }).end(JSON.stringify(body));
    };

    const slow = switches.take(['slow'], user);
    if (slow) await sleep(clock, slow.ms);
    const instead = switches.take(['throttle', 'hang', 'close', 'fail', 'empty'], user);
    if (instead?.kind === 'hang') return;
    if (instead?.kind === 'close') return void req.socket.destroy();
    if (instead?.kind === 'fail' || instead?.kind === 'empty') {
      reply(instead.kind === 'fail' ? 500 : 200, {});
      return;
    }
    try {
      if (instead) throw dialect.throttled(instead.retryAfterSeconds);
      const granted = await dialect.grant(request);
      entry.user = granted.subject.user.id;
      reply(200, await answer(dialect, granted));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      reply(error.status, error.body, error.headers);
    }
  };
}

/** As it was asked for, also below a tenant. */
function pathOf(req: IncomingMessage & { originalUrl?: string }): string {
  return (req.originalUrl ?? req.url ?? '').split('?')[0] ?? '';
}

/** Who the token says it is about, before anything is proven: whom a switch and the record mean. */
function namedUser(form: URLSearchParams): string | undefined {
  try {
    return decodeJwt(form.get('assertion') ?? form.get('subject_token') ?? '').sub;
  } catch {
    return undefined;
  }
}
