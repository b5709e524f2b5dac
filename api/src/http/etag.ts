import { toEtag } from '@behalf/gateway';
import type { Request, Response } from 'express';

/** The `If-Match` header of a write (RFC 9110 section 13.1.1), in the form that the gateway functions take. */
export function readIfMatch(req: Pick<Request, 'get'>): { ifMatch?: string } {
  const ifMatch = req.get('if-match');
  return ifMatch === undefined ? {} : { ifMatch };
}

/** Sends the view of a resource with its version as ETag. A resource without a version has no ETag. */
export function sendVersioned(res: Response, view: object, version: number | undefined): void {
  if (version !== undefined) res.set('ETag', toEtag(version));
  res.json(view);
}
