import type { ChatMessage, ChatRequest } from '@behalf/contracts';
import {
  listAllowedServers,
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
import { createRestInbound } from '../../rest/mcp/inbound.ts';
import type { RequestCompletion } from '../model/chatCompletions.ts';
import { modelHeaders } from '../model/modelHeaders.ts';
import type { ChosenModel } from '../model/models.ts';
import type { AnswerRun } from '../answerRun.ts';
import { selectOfferedTools } from '../tool/offeredTools.ts';
import type { AnswerRequest } from './writeAnswer.ts';

export interface AnswerRequestParts {
  readonly callParts: CallParts & ListToolsParts;
  readonly requestCompletion: RequestCompletion;
  /** Who is calling, by what they sent with the request: asked again while the answer is written. */
  readonly resolveCaller: (req: Request) => Principal | Promise<Principal>;
  readonly requestIds: () => string;
  readonly logger: Logger;
}

/** What was asked, and by whom. */
export interface ChatQuestion {
  readonly req: Request;
  readonly caller: UserPrincipal;
  readonly chatRequest: ChatRequest;
  readonly model: ChosenModel;
  readonly run: AnswerRun;
  readonly conversationId: string;
  /** The message that asks, and those before it. */
  readonly messageId: string;
  readonly history: readonly ChatMessage[];
}

/** LibreChat's word for a message that answers none. */
const NO_PARENT_ID = '00000000-0000-0000-0000-000000000000';

/** In whose name the model and the tools are asked for an answer. */
export function createAnswerRequest(
  parts: AnswerRequestParts,
  question: ChatQuestion,
  { message, ...output }: Pick<AnswerRequest, 'message' | 'emit' | 'save'>,
): AnswerRequest {
  const { callParts, requestCompletion, requestIds, logger } = parts;
  const { req, chatRequest, model, run, conversationId, messageId, history } = question;
  const { signal } = run;
  const fields: RequestFields = {
    CONVERSATIONID: conversationId,
    PARENTMESSAGEID: history.at(-1)?.id ?? NO_PARENT_ID,
    MESSAGEID: messageId,
  };
  const reauthenticate = () => recheckCaller(parts, question);
  const createInbound = (currentCaller: UserPrincipal): Inbound => ({
    ...createRestInbound({ caller: currentCaller, headers: req.headers, signal, id: requestIds() }),
    ...{ door: 'chat', fields, request: message.id },
  });
  return {
    ...{ message, ...output, history, text: chatRequest.text, run, reauthenticate, createInbound },
    approvalRequests: new Map(),
    async loadTools() {
      const currentCaller = await reauthenticate();
      const selectedServers = listAllowedServers(callParts, currentCaller).filter(
        ({ name }) => chatRequest.servers?.includes(name) ?? true,
      );
      return selectOfferedTools(
        await listToolsOfServers(callParts, createInbound(currentCaller), selectedServers),
      );
    },
    async requestCompletion(request) {
      try {
        const headers = modelHeaders(model.endpoint, await reauthenticate(), fields);
        return await requestCompletion(model.endpoint, model.model, { ...request, headers, signal });
      } catch (error) {
        if (error instanceof GatewayError) logFailure(logger, question, error);
        throw error;
      }
    },
  };
}

/** An answer takes minutes. Who signed out, was locked out or may not use servers any more is not answered further. */
async function recheckCaller(
  { resolveCaller, callParts }: AnswerRequestParts,
  { req, caller }: ChatQuestion,
): Promise<UserPrincipal> {
  const currentCaller = await resolveCaller(req);
  if (
    currentCaller.kind !== 'user' ||
    currentCaller.userId !== caller.userId ||
    currentCaller.tenant !== caller.tenant
  ) {
    throw new GatewayError('AUTH_REQUIRED');
  }
  callParts.requirePermission()(currentCaller, 'USE');
  return currentCaller;
}

function logFailure(logger: Logger, { caller, model }: ChatQuestion, { code, detail }: GatewayError): void {
  const { endpoint } = model;
  logger.warn('A model request failed', {
    ...{ code, detail, endpoint: endpoint.name, model: model.model, user: caller.userId },
  });
}
