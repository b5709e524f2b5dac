import type { ServerChange } from '@behalf/gateway';
import type { Request } from 'express';

/** The whole definition anew, as existing front ends send it; as a merge patch (RFC 7396) only what changes. */
export function readChangeMode(req: Request): ServerChange['mode'] {
  return typeof req.is('application/merge-patch+json') === 'string' ? 'merge' : 'replace';
}
