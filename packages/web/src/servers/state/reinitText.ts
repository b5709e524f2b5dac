import type { ReinitializeView } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';
import { formatNear } from '../../hooks/formatTime.ts';
import { signInCodes } from './serverState.ts';
import { problemOf } from './stateText.ts';

/** How bringing a server up anew ended, to be read by who asked for it. */
export interface ReinitText {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
  /** Where a sign-in is needed next. */
  readonly signIn?: 'there' | 'here';
}

export interface Asked {
  /** It could not be reached before either. */
  readonly wasUnreachable: boolean;
  /** What a value is called on the page. */
  readonly labelOf: (variable: string) => string;
}

export function reinitText(view: ReinitializeView, asked: Asked): ReinitText {
  return view.success ? goodText(view) : badText(view, asked);
}

function goodText({ code, connectionDeferred, oauthRequired, tools }: ReinitializeView): ReinitText {
  const { outcomes, stateTexts, problemAndAdvice } = strings.servers;
  if (connectionDeferred) return { tone: 'info', title: outcomes.deferred, text: outcomes.deferredText };
  if (oauthRequired) {
    return {
      tone: 'warning',
      title: outcomes.foundSignInThere,
      text: stateTexts.sign_in_there,
      signIn: 'there',
    };
  }
  if (code !== undefined) {
    const { title, advice } = problemOf(code);
    return {
      tone: 'warning',
      title: outcomes.foundSignInHere,
      text: problemAndAdvice(title, advice),
      signIn: 'here',
    };
  }
  return { tone: 'success', title: outcomes.connected, text: outcomes.connectedText(tools?.length ?? 0) };
}

function badText(view: ReinitializeView, { wasUnreachable, labelOf }: Asked): ReinitText {
  const { outcomes, stateTexts, triedAgainAt, problemAndAdvice } = strings.servers;
  const { failureReason, code = 'INTERNAL', missingUserVars = [], retryable, retryAt } = view;
  const { title, advice } = problemOf(code);
  const why = problemAndAdvice(title, advice);
  if (failureReason === 'oauth_required') {
    return { tone: 'warning', title: outcomes.signInThere, text: stateTexts.sign_in_there, signIn: 'there' };
  }
  if (failureReason === 'missing_custom_user_vars') {
    const names = missingUserVars.map(labelOf).join(', ');
    return { tone: 'warning', title: outcomes.valuesMissing, text: outcomes.valuesMissingText(names) };
  }
  if (failureReason === 'unreachable') {
    const isStill = wasUnreachable || retryAt !== undefined;
    return {
      tone: 'danger',
      title: isStill ? outcomes.stillUnreachable : outcomes.unreachable,
      text: retryAt === undefined ? why : `${why} ${triedAgainAt(formatNear(retryAt))}`,
    };
  }
  if (signInCodes.has(code)) {
    return { tone: 'warning', title: outcomes.signInHere, text: why, signIn: 'here' };
  }
  if (code === 'MCP_CREDENTIAL_REJECTED') return { tone: 'danger', title: outcomes.refused, text: advice };
  if (code === 'MCP_OBO_FORBIDDEN') return { tone: 'danger', title: outcomes.forbidden, text: advice };
  if (retryable) return { tone: 'warning', title: outcomes.busy, text: `${title}. ${outcomes.busyText}` };
  return { tone: 'danger', title: outcomes.failed, text: why };
}
