import type { Request } from 'express';

/** The version that a writer has seen, as it stands in the request. */
export function readIfMatch(req: Request): { ifMatch?: string } {
  const ifMatch = req.get('if-match');
  return ifMatch === undefined ? {} : { ifMatch };
}
