import { GatewayError, type RunInbound, type Principal, type UserPrincipal } from '@behalf/gateway';
import type { Request, Response } from 'express';
import { createDisconnectSignal } from '../../../middleware/callerDisconnect.ts';
import { createRestInbound } from '../inbound.ts';

/** Runs belong to people: a program has nobody whose they could be. */
export function requireUser(caller: Principal): UserPrincipal {
  if (caller.kind !== 'user') throw new GatewayError('FORBIDDEN');
  return caller;
}

/** Who asks for a run. It goes on when they leave; only what comes before it ends with them. */
export function createRunInbound(req: Request, res: Response, caller: Principal): RunInbound {
  const inbound = createRestInbound({ caller, headers: req.headers, signal: createDisconnectSignal(res) });
  return { ...inbound, principal: requireUser(caller) };
}
