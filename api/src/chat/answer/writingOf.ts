import type { ChatMessage, ChatRequest } from '@behalf/contracts';
import {
  findServers,
  GatewayError,
  listToolsOfServers,
  type CallParts,
  type Inbound,
  type ListToolsParts,
  type Principal,
  type RequestFields,
  type UserPrincipal,
} from '@behalf/gateway';
import type { Request } from 'express';
import type { Logger } from '../../logger.ts';
import { restInbound } from '../../rest/mcp/inbound.ts';
import type { AskModel } from '../model/askModel.ts';
import { modelHeaders } from '../model/modelHeaders.ts';
import type { ChosenModel } from '../model/models.ts';
import type { Running } from '../running.ts';
import { offeredTools } from '../tool/offeredTools.ts';
import type { Writing } from './writeAnswer.ts';

export interface WritingParts {
  readonly asking: CallParts & ListToolsParts;
  readonly askModel: AskModel;
  /** Who is calling, by what they sent with the request: asked again while the answer is written. */
  readonly callers: (req: Request) => Principal | Promise<Principal>;
  readonly requestIds: () => string;
  readonly logger: Logger;
}

/** What was asked, and by whom. */
export interface Question {
  readonly req: Request;
  readonly caller: UserPrincipal;
  readonly asked: ChatRequest;
  readonly model: ChosenModel;
  readonly running: Running;
  readonly conversationId: string;
  /** The message that asks, and those before it. */
  readonly id: string;
  readonly history: readonly ChatMessage[];
}

/** LibreChat's word for a message that answers none. */
const NO_PARENT = '00000000-0000-0000-0000-000000000000';

/** In whose name the model and the tools are asked for an answer. */
export function writingOf(
  parts: WritingParts,
  question: Question,
  { message, ...told }: Pick<Writing, 'message' | 'tell' | 'save'>,
): Writing {
  const { asking, askModel, requestIds, logger } = parts;
  const { req, asked, model, running, conversationId, id, history } = question;
  const { signal } = running;
  const fields: RequestFields = {
    CONVERSATIONID: conversationId,
    PARENTMESSAGEID: history.at(-1)?.id ?? NO_PARENT,
    MESSAGEID: id,
  };
  const caller = () => sameCaller(parts, question);
  const inbound = (now: UserPrincipal): Inbound => ({
    ...restInbound({ caller: now, headers: req.headers, signal, id: requestIds() }),
    ...{ door: 'chat', fields, request: message.id },
  });
  return {
    ...{ message, ...told, history, text: asked.text, running, caller, inbound },
    asked: new Map(),
    async offered() {
      const now = await caller();
      const chosen = findServers(asking, now).filter(({ name }) => asked.servers?.includes(name) ?? true);
      return offeredTools(await listToolsOfServers(asking, inbound(now), chosen));
    },
    async ask(request) {
      try {
        const headers = modelHeaders(model.endpoint, await caller(), fields);
        return await askModel(model.endpoint, model.model, { ...request, headers, signal });
      } catch (error) {
        if (error instanceof GatewayError) logFailure(logger, question, error);
        throw error;
      }
    },
  };
}

/** An answer takes minutes. Who signed out, was locked out or may not use servers any more is not answered further. */
async function sameCaller(
  { callers, asking }: WritingParts,
  { req, caller }: Question,
): Promise<UserPrincipal> {
  const now = await callers(req);
  if (now.kind !== 'user' || now.userId !== caller.userId || now.tenant !== caller.tenant) {
    throw new GatewayError('AUTH_REQUIRED');
  }
  asking.requirePermission()(now, 'USE');
  return now;
}

function logFailure(logger: Logger, { caller, model }: Question, { code, detail }: GatewayError): void {
  const { endpoint } = model;
  logger.warn('A model did not answer', {
    ...{ code, detail, endpoint: endpoint.name, model: model.model, user: caller.userId },
  });
}
