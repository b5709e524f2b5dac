import { ConversationChange, type Diagnostic } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import { MAX_TITLE_LENGTH } from './limits.ts';

/** As its user wants it. */
export function parseTitle(title: string): string {
  const parsed = ConversationChange.safeParse({ title });
  if (parsed.success) return parsed.data.title;
  const message = `must have 1 to ${MAX_TITLE_LENGTH} characters`;
  const errors: Diagnostic[] = [{ path: 'title', code: 'title_length', message }];
  throw new GatewayError('REQUEST_INVALID', { errors });
}

/** Of a text of any length: its beginning, in one line. */
export function deriveTitle(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  // Half a pair at the end is no character.
  const truncated = line.slice(0, MAX_TITLE_LENGTH).replace(/[\uD800-\uDBFF]$/, '');
  return parseTitle(truncated);
}
