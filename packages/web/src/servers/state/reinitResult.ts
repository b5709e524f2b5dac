import type { ReinitializeView } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';
import { formatTimeOrDate } from '../../ui/format.ts';
import { describeErrorCode, organizationSignInCodes } from './serverState.ts';

/** The result of a reconnect in words. */
export interface ReinitText {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
  /** Where the user must sign in next. */
  readonly signIn?: 'there' | 'here';
}

interface ReinitContext {
  /** The server was unreachable before, too. */
  readonly wasUnreachable: boolean;
  /** Returns the displayed name of a variable. */
  readonly labelOf: (variable: string) => string;
}

export function describeReinit(view: ReinitializeView, context: ReinitContext): ReinitText {
  return view.success ? successText(view) : failureText(view, context);
}

function successText({ code, connectionDeferred, oauthRequired, tools }: ReinitializeView): ReinitText {
  const { outcomes, stateTexts, problemAndAdvice } = strings.servers;
  if (connectionDeferred) return { tone: 'info', title: outcomes.deferred, text: outcomes.deferredText };
  if (oauthRequired) {
    return {
      tone: 'warning',
      title: outcomes.toolsNeedServerSignIn,
      text: stateTexts.needs_server_sign_in,
      signIn: 'there',
    };
  }
  if (code !== undefined) {
    const { title, advice } = describeErrorCode(code);
    return {
      tone: 'warning',
      title: outcomes.toolsNeedOrganizationSignIn,
      text: problemAndAdvice(title, advice),
      signIn: 'here',
    };
  }
  return { tone: 'success', title: outcomes.connected, text: outcomes.connectedText(tools?.length ?? 0) };
}

function failureText(view: ReinitializeView, { wasUnreachable, labelOf }: ReinitContext): ReinitText {
  const { outcomes, stateTexts, nextRetryAt, problemAndAdvice } = strings.servers;
  const { failureReason, code = 'INTERNAL', missingUserVars = [], retryable, retryAt } = view;
  const { title, advice } = describeErrorCode(code);
  const explanation = problemAndAdvice(title, advice);
  if (failureReason === 'oauth_required') {
    return {
      tone: 'warning',
      title: outcomes.needsServerSignIn,
      text: stateTexts.needs_server_sign_in,
      signIn: 'there',
    };
  }
  if (failureReason === 'missing_custom_user_vars') {
    const names = missingUserVars.map(labelOf).join(', ');
    return { tone: 'warning', title: outcomes.valuesMissing, text: outcomes.valuesMissingText(names) };
  }
  if (failureReason === 'unreachable') {
    const isStillUnreachable = wasUnreachable || retryAt !== undefined;
    return {
      tone: 'danger',
      title: isStillUnreachable ? outcomes.stillUnreachable : outcomes.unreachable,
      text: retryAt === undefined ? explanation : `${explanation} ${nextRetryAt(formatTimeOrDate(retryAt))}`,
    };
  }
  if (organizationSignInCodes.has(code)) {
    return { tone: 'warning', title: outcomes.needsOrganizationSignIn, text: explanation, signIn: 'here' };
  }
  if (code === 'MCP_CREDENTIAL_REJECTED') return { tone: 'danger', title: outcomes.refused, text: advice };
  if (code === 'MCP_OBO_FORBIDDEN') return { tone: 'danger', title: outcomes.forbidden, text: advice };
  if (retryable) return { tone: 'warning', title: outcomes.busy, text: `${title}. ${outcomes.busyText}` };
  return { tone: 'danger', title: outcomes.failed, text: explanation };
}

/** The displayed fields of a tool. Texts come from the server. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  readonly asksFirst?: boolean;
}

/** Parses the tools of a reconnect and drops malformed ones. */
export function parseDiscoveredTools(tools: readonly unknown[]): ListedTool[] {
  return tools.flatMap((tool) => {
    const { name, title, description } = (tool ?? {}) as Record<string, unknown>;
    if (typeof name !== 'string') return [];
    return [
      {
        name,
        ...(typeof title === 'string' && title !== '' && { title }),
        description: typeof description === 'string' ? description : '',
      },
    ];
  });
}
