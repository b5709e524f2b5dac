import type { Inbound, UserPrincipal } from '@behalf/gateway';
import type { Request, Response } from 'express';
import { createDisconnectSignal } from '../../../middleware/callerDisconnect.ts';
import { createRestInbound } from '../inbound.ts';

/** Who saves, and for how long they wait: the tools of the server may have to be asked for. */
export function createSaveInbound(
  req: Request,
  res: Response,
  caller: UserPrincipal,
): Inbound & { principal: UserPrincipal } {
  const inbound = createRestInbound({ caller, headers: req.headers, signal: createDisconnectSignal(res) });
  return { ...inbound, principal: caller };
}
