export function WorkflowsView() {
  return <h1>WorkflowsView</h1>;
}
