import type { ChatEvent } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';
import { findCall } from './applyEvent.ts';
import { answerText, type AnswerState } from './messages.ts';

const MAX_ANNOUNCED_LENGTH = 300;

/** What a screen reader says of an event, after it was applied; undefined where it would only disturb. */
export function toAnnouncement(answer: AnswerState, event: ChatEvent): string | undefined {
  const words = strings.chat.announce;
  if (event.event === 'approval') {
    const call = findCall(answer, event.data.callId)?.state.get().call;
    return call && words.approval(call.serverTitle, call.toolTitle || call.tool);
  }
  if (event.event === 'connect') return words.connect(event.data.connect.title);
  if (event.event !== 'done') return undefined;
  if (event.data.finish === 'error') return words.failed;
  if (event.data.finish === 'stopped') return words.stopped;
  return words.finished(truncateAnnouncement(stripMarkdown(answerText(answer))));
}

/** Read out, the signs of Markdown would only disturb. */
function stripMarkdown(text: string): string {
  return text
    .replaceAll(/[*_`#>|~]+/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function truncateAnnouncement(text: string): string {
  return text.length > MAX_ANNOUNCED_LENGTH ? `${text.slice(0, MAX_ANNOUNCED_LENGTH)}…` : text;
}
