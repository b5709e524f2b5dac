import type { Cancellation } from '@behalf/kernel';

/** What is said to a model, in the form of OpenAI's chat completions. */
export type ModelMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly tool_calls?: readonly ModelCall[];
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

export interface ModelCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface ModelTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: Readonly<Record<string, unknown>>;
  };
}

/** A call as the model wants it. It chose every word: neither the name nor the arguments need make sense. */
export interface RequestedCall {
  readonly name: string;
  readonly args: string;
}

export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: Cancellation;
  /** Each piece as it comes. The next one is read when this settles. */
  readonly onText: (text: string) => Promise<void>;
}

export interface ModelResponse {
  readonly text: string;
  readonly calls: readonly RequestedCall[];
  /** `length`: it had more to say than it may. */
  readonly finish: 'stop' | 'length';
}
