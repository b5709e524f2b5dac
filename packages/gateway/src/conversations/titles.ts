import { ConversationChange, type Diagnostic } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import { LONGEST_TITLE } from './limits.ts';

/** As its user wants it. */
export function givenTitle(title: string): string {
  const read = ConversationChange.safeParse({ title });
  if (read.success) return read.data.title;
  const message = `must have 1 to ${LONGEST_TITLE} characters`;
  const errors: Diagnostic[] = [{ path: 'title', code: 'title_length', message }];
  throw new GatewayError('REQUEST_INVALID', { errors });
}

/** Of a text of any length: its beginning, in one line. */
export function shortTitle(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  // Half a pair at the end is no character.
  const cut = line.slice(0, LONGEST_TITLE).replace(/[\uD800-\uDBFF]$/, '');
  return givenTitle(cut);
}
