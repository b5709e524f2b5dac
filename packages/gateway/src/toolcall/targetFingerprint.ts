import { createHash } from 'node:crypto';
import type { PreparedTarget } from './obtainCredential.ts';

/**
 * Where a call leads, every placeholder filled in, as a short text that says nothing of it. Not how: a timeout, a header or another
 * token change nothing about whose a thing there is.
 */
export function fingerprintTarget(prepared: PreparedTarget): string {
  const target = 'holder' in prepared ? prepared.holder.target : prepared.server.target;
  const identity =
    target.type === 'stdio'
      ? [target.type, target.command, target.args, target.cwd ?? null]
      : [target.type, target.url];
  return createHash('sha256').update(JSON.stringify(identity)).digest('base64url').slice(0, 22);
}
