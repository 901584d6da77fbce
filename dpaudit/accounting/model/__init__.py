"""The plain data that laws and engines share: compositions, loss values, questions, tables."""
