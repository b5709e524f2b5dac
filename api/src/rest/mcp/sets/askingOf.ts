import { GatewayError, type RunInbound, type Principal, type UserPrincipal } from '@behalf/gateway';
import type { Request, Response } from 'express';
import { whenCallerLeaves } from '../../../middleware/whenCallerLeaves.ts';
import { restInbound } from '../inbound.ts';

/** Runs belong to people: a program has nobody whose they could be. */
export function userOf(caller: Principal): UserPrincipal {
  if (caller.kind !== 'user') throw new GatewayError('FORBIDDEN');
  return caller;
}

/** Who asks for a run. It goes on when they leave; only what comes before it ends with them. */
export function askingOf(req: Request, res: Response, caller: Principal): RunInbound {
  const inbound = restInbound({ caller, headers: req.headers, signal: whenCallerLeaves(res) });
  return { ...inbound, principal: userOf(caller) };
}
