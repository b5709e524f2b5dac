/** Whether somebody has begun to write there, and must not be torn away; a field that is empty can be left. */
export function isTyping(element: Element | null): boolean {
  if (element?.closest('dialog, [role="dialog"]')) return true;
  if (element instanceof HTMLTextAreaElement || element instanceof HTMLInputElement)
    return element.value !== '';
  return element instanceof HTMLElement && element.isContentEditable;
}
