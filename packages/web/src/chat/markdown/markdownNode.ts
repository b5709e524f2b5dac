/** What of Markdown is shown, and nothing beyond it: a text has no way to anything that is not listed here. */
export type MarkdownNode =
  | { readonly kind: 'text' | 'inlineCode' | 'plain'; readonly text: string }
  | { readonly kind: 'break' | 'rule' }
  | { readonly kind: 'code'; readonly text: string; readonly language: string }
  | {
      readonly kind: 'link';
      readonly href: string;
      readonly host: string;
      readonly children: readonly MarkdownNode[];
    }
  | { readonly kind: 'heading'; readonly level: number; readonly children: readonly MarkdownNode[] }
  | { readonly kind: 'list'; readonly start: number | null; readonly children: readonly MarkdownNode[] }
  | { readonly kind: 'item'; readonly isChecked: boolean | null; readonly children: readonly MarkdownNode[] }
  | {
      readonly kind: 'table';
      readonly align: readonly Alignment[];
      readonly rows: readonly (readonly MarkdownNode[])[];
    }
  | { readonly kind: WrapperKind; readonly children: readonly MarkdownNode[] };

export type WrapperKind = 'paragraph' | 'strong' | 'emphasis' | 'strikethrough' | 'quote' | 'cell';
export type Alignment = 'left' | 'right' | 'center' | null;
