import type { Inbound, Principal } from '@behalf/gateway';
import type { Request, Response } from 'express';
import { createDisconnectSignal } from '../../http/request.ts';
import { createRestInbound } from './serverResponder.ts';

/** What the gateway needs to know of an Express request. The signal aborts when the client disconnects. */
export function inboundOf<Caller extends Principal>(
  req: Pick<Request, 'headers'>,
  res: Response,
  caller: Caller,
): Inbound & { principal: Caller } {
  const inbound = createRestInbound({ caller, headers: req.headers, signal: createDisconnectSignal(res) });
  return { ...inbound, principal: caller };
}
